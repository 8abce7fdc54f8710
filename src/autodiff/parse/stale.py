"""The tables of an edited grammar, in a checkout: made in memory, and written down where that is possible."""

from __future__ import annotations

import importlib.util
import os
from types import ModuleType


def rebuild(grammars: str, here: str, grammar: bytes) -> ModuleType:
    """Fresh tables by grammars/tables.py; the file in `here` is replaced whole or not at all."""
    spec = importlib.util.spec_from_file_location("_autodiff_tables", os.path.join(grammars, "tables.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"no table generator in {grammars}")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    text = generator.generate(grammar)
    generator.replace(os.path.join(here, "tables.py"), text)
    tables = ModuleType("autodiff.parse.tables")
    exec(text, tables.__dict__)
    return tables
