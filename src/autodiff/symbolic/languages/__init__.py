"""A module for each language that formulas are written in as code."""
