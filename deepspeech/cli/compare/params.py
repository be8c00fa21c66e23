"""Print which parameters of two runs differ, and their values in both.

    python -m deepspeech.compare_params A B

A and B are params.txt files, or the folders that hold one. Each parameter that differs is a line `name : A's | B's`.
The exit code is 0 if none differs, 1 if any does, and 2 after an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...options.parameters.comparison import differences
from ...options.parameters.text import FILE_NAME, Value, read_parameters
from ..arguments import ArgumentParser, run_command


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print and return the exit code."""
    return run_command(lambda: _main(arguments), "compare_params: error", failure=2)


def _main(arguments: Sequence[str] | None) -> int:
    parser = ArgumentParser(__doc__, "python -m deepspeech.compare_params")
    parser.add_argument("a", type=Path, metavar="A", help="params.txt of one run, or its folder")
    parser.add_argument("b", type=Path, metavar="B", help="params.txt of the other run, or its folder")
    options = parser.parse_args(arguments)
    lines = differences(_read(options.a), _read(options.b))
    for line in lines:
        print(line)
    return 1 if lines else 0


def _read(path: Path) -> dict[str, Value]:
    return read_parameters(path / FILE_NAME if path.is_dir() else path)
