"""The log, and reports of progress and results."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ..util.monitoring.log_lines import FORMATS, TEXT
from .checkpoints import CHECKPOINTS
from .rows.checks import Check, OneOf, at_least, up_to
from .rows.flag import flag


class WerLogPatternCheck(Check):
    """A pattern that a set's name, a date and a word error rate can be put into, or none."""

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with the pattern, with Python's reason."""
        try:
            if value:
                value % ("test", "2017-05-18T03:09:48", 0.05)
        except (TypeError, ValueError) as error:
            return f"--{name}={value}: must hold %s, %s and %f for set name, date and word error rate ({error})"
        return ""


@dataclass(frozen=True)
class LogOptions:
    """What is logged."""

    title: ClassVar[str] = CHECKPOINTS
    level: int = flag(
        1,
        "lowest level that is logged; 0: debug, 1: info, 2: warnings, 3: errors",
        name="log_level",
        check=up_to(3, "0, 1, 2 or 3"),
        decides_result=False,
    )
    traffic: bool = flag(
        False, "log the messages to and from the coordinator", name="log_traffic", decides_result=False
    )
    format: str = flag(
        TEXT,
        "format of the log: text, or json, one object per line with time, level, node and message",
        name="log_format",
        check=OneOf(FORMATS),
        decides_result=False,
    )


@dataclass(frozen=True)
class ReportOptions:
    """What is reported about progress and results."""

    title: ClassVar[str] = CHECKPOINTS
    count: int = flag(
        10,
        "wrongly transcribed utterances in a report: those with the lowest loss, sorted by WER",
        name="report_count",
        check=at_least(0),
        decides_result=False,
    )
    wer_log_pattern: str = flag(
        "",
        "pattern with %s, %s and %f for set, date and word error rate, printed to stdout",
        check=WerLogPatternCheck(),
        decides_result=False,
    )
    test_output_file: Path | None = flag(
        None,
        "JSON file with the reference, transcript, loss, edits and duration of each test utterance",
        decides_result=False,
    )
    report_dir: Path | None = flag(
        None,
        "folder for a report of the test's errors: report.html, report.json and utterances.csv",
        decides_result=False,
    )
    show_progressbar: bool = flag(True, "show progress bars on a terminal", decides_result=False)


@dataclass(frozen=True)
class StatusOptions:
    """The page with the status of training on one machine: the port that it is served on, 0 for none."""

    title: ClassVar[str] = CHECKPOINTS
    port: int = flag(
        0,
        "port of a page, http://localhost:PORT, with the status of training on one machine; 0: none",
        name="status_port",
        check=up_to(65535, "a port, at most 65535"),
        decides_result=False,
    )
