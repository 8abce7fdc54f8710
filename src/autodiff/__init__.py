"""Differentiation of expressions, at the command line and in Python."""

__version__ = "0.1.0"
