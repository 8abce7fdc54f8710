"""Text to Program: syntax alone, no name or operation has a meaning here."""

from autodiff.parse.parser import parse
from autodiff.parse.program import Program

__all__ = ["Program", "parse"]
