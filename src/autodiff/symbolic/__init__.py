"""Symbolic work on formulas: exact simplification, text, and code in other languages."""
