"""Start-up: a scalar gradient, as a whole process, against `import numpy`; interleaved, medians of the ratios."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROUNDS = 15
SOURCE = Path(__file__).parents[2] / "src"
LINE = ["-m", "autodiff", "grad", "(x+2)*x", "--at", "x=2"]


def seconds(words: list[str], environment: dict[str, str]) -> float:
    """The duration of a whole process."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, *words], env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def compare(title: str, ours: dict[str, str], theirs: dict[str, str]) -> None:
    seconds(LINE, ours), seconds(["-c", "import numpy"], theirs)
    pairs = [(seconds(LINE, ours), seconds(["-c", "import numpy"], theirs)) for _ in range(ROUNDS)]
    a, b = (1000 * median(column) for column in zip(*pairs, strict=True))
    ratio = median(a / b for a, b in pairs)
    print(f"{title:32} autodiff {a:6.1f} ms   import numpy {b:6.1f} ms   ratio {ratio:.2f}   (bar 1.0)")


def main() -> None:
    plain = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as folder:
        # A copy of our own, so that its .pyc files are those of this run, or none.
        package = Path(folder, "autodiff")
        shutil.copytree(SOURCE / "autodiff", package, ignore=shutil.ignore_patterns("__pycache__"))
        bare = {**plain, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        compare("without .pyc files of our own", bare, plain)
        compare("as installed, with .pyc files", {**plain, "PYTHONPATH": folder}, plain)


if __name__ == "__main__":
    main()
