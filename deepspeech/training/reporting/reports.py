"""Reports of finished epochs in the log."""

import logging
from collections.abc import Sequence
from pathlib import Path

from ...options import ReportOptions
from ...schedule.jobs import EpochReport, SetName
from ...util.figures.report import report_lines, wer_line
from ...util.figures.tally import counted_files

logger = logging.getLogger(__name__)

TITLES = {SetName.TRAIN: "Training", SetName.DEV: "Validation", SetName.TEST: "Test"}


def epoch_title(set_name: SetName, epoch: int) -> str:
    """Return what progress calls an epoch, which is counted from 0."""
    return TITLES[set_name] + ("" if set_name is SetName.TEST else f" epoch {epoch + 1}")


def log_report(report: EpochReport, options: ReportOptions, pace: str, test_files: Sequence[Path]) -> None:
    """Log an epoch's figures and, where it was decoded, its samples; print the line that `wer_log_pattern` asks for.

    The log counts epochs from 1. `pace` says how many utterances took how many seconds. A test's report has a
    headline for each of several test files, and one for all together.
    """
    where = TITLES[report.set_name] + ("" if report.set_name is SetName.TEST else f" of epoch {report.epoch + 1}")
    if report.decoded:
        logger.info("%s: %s", epoch_title(report.set_name, report.epoch), pace)
    files = counted_files(test_files) if report.set_name is SetName.TEST else []
    lines = report_lines(where, report.tally, decoded=report.decoded, files=files)
    for line in lines if report.decoded else [f"{lines[0]}, {pace}"]:
        logger.info("%s", line)
    if report.decoded and options.wer_log_pattern:
        print(wer_line(options.wer_log_pattern, report.set_name.value, report.tally), flush=True)
