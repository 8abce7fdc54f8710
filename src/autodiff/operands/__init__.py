"""Other kinds of operand: each takes the same rows as floats, arrays and nodes do."""
