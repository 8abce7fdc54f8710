"""Plain data in, text out: numbers, tables, JSON, diagnostics and pictures. Evaluates nothing."""
