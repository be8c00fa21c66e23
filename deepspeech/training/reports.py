"""Reports of finished epochs in the log."""

import logging

from ..options import ReportOptions
from ..schedule.jobs import EpochReport, SetName
from ..util.figures.report import report_lines, wer_line

logger = logging.getLogger(__name__)

TITLES = {SetName.TRAIN: "Training", SetName.DEV: "Validation", SetName.TEST: "Test"}


def epoch_title(set_name: SetName, epoch: int) -> str:
    """Return what a progress bar calls an epoch, which is counted from 0."""
    return TITLES[set_name] + ("" if set_name is SetName.TEST else f" epoch {epoch + 1}")


def log_report(report: EpochReport, options: ReportOptions) -> None:
    """Log an epoch's figures and, where it was decoded, its samples; print the line that `wer_log_pattern` asks for.

    The log counts epochs from 1.
    """
    where = TITLES[report.set_name] + ("" if report.set_name is SetName.TEST else f" of epoch {report.epoch + 1}")
    for line in report_lines(where, report.tally, decoded=report.decoded):
        logger.info(line)
    if report.decoded and options.wer_log_pattern:
        print(wer_line(options.wer_log_pattern, report.set_name.value, report.tally), flush=True)
