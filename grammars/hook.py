"""Hatchling's build hook: every build, editable ones too, begins with fresh parser tables."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TablesHook(BuildHookInterface[Any]):
    """Writes src/autodiff/parse/tables.py."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files."""
        root = Path(self.root)
        spec = importlib.util.spec_from_file_location("tables", root / "grammars" / "tables.py")
        assert spec is not None and spec.loader is not None
        generator = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(generator)
        text = generator.generate((root / "grammars" / "expression.lark").read_bytes())
        target = root / "src" / "autodiff" / "parse" / "tables.py"
        if not (target.exists() and target.read_text("ascii") == text) and not generator.replace(str(target), text):
            raise OSError(f"cannot write {target}")
