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
    """Return the title of an epoch, counted from 0, in the progress."""
    return TITLES[set_name] + ("" if set_name is SetName.TEST else f" epoch {epoch + 1}")


def log_report(report: EpochReport, options: ReportOptions, pace: str, test_files: Sequence[Path]) -> None:
    """Log an epoch's figures and, if it was decoded, its samples; print the line of `wer_log_pattern`.

    The log counts epochs from 1. `pace` is the number of utterances and their seconds, in words. If there are several
    test files, a test's report has a headline for each of them, and one for all.
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
