"""Report what became better or worse from one test to another, and whether that may be chance.

    python -m deepspeech.compare_reports A B

A and B are the folders that --report_dir wrote, of two models tested on the same utterances. A difference of word error
rates counts as significant if its p is below 0.05. The exit code is 0, or 1 after an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...util.figures.error_report.comparison import compare
from ...util.figures.error_report.comparison_text import comparison_lines
from ...util.figures.error_report.folder import UTTERANCES
from ...util.figures.error_report.results import UtteranceResult, read_results
from ..arguments import ArgumentParser, run_command


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print and return the exit code."""
    return run_command(lambda: _main(arguments), "compare_reports: error")


def _main(arguments: Sequence[str] | None) -> None:
    parser = ArgumentParser(__doc__, "python -m deepspeech.compare_reports")
    parser.add_argument("a", type=Path, metavar="A", help="folder of a report, or its utterances.csv")
    parser.add_argument("b", type=Path, metavar="B", help="the other folder or utterances.csv")
    options = parser.parse_args(arguments)
    comparison = compare(_read(options.a), _read(options.b))
    print("\n".join(comparison_lines(comparison, str(options.a), str(options.b))))


def _read(path: Path) -> list[UtteranceResult]:
    return read_results(path / UTTERANCES if path.is_dir() else path)
