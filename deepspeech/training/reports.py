"""What a finished epoch looks like in the log."""

import logging
from datetime import datetime, timezone

from ..options import ReportOptions
from ..schedule.jobs import EpochReport, Sample, SetName

logger = logging.getLogger(__name__)

TITLES = {SetName.TRAIN: "Training", SetName.DEV: "Validation", SetName.TEST: "Test"}


def epoch_title(set_name: SetName, epoch: int) -> str:
    """What a progress bar calls an epoch, which is counted from 0."""
    return TITLES[set_name] + ("" if set_name is SetName.TEST else f" epoch {epoch + 1}")


def log_report(report: EpochReport, options: ReportOptions) -> None:
    """Log an epoch's figures and, where it was decoded, its samples; print the line that `wer_log_pattern` asks for."""
    for line in report_lines(report):
        logger.info(line)
    if report.decoded and options.wer_log_pattern:
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        print(options.wer_log_pattern % (report.set_name.value, now, report.tally.edits.wer), flush=True)


def report_lines(report: EpochReport) -> list[str]:
    """The lines of a report; the epoch is counted from 1, the samples are ordered by word error rate."""
    tally = report.tally
    where = TITLES[report.set_name] + ("" if report.set_name is SetName.TEST else f" of epoch {report.epoch + 1}")
    headline = f"{where}: loss {tally.mean_loss:.4f}"
    if not report.decoded:
        return [headline]
    edits = tally.edits
    headline += (
        f", WER {edits.wer:.2%}, CER {edits.cer:.2%}, mean edit distance {edits.mean_edit_distance:.3f}"
        f" ({edits.utterances} utterances, {edits.words} words)"
    )
    return [headline, *(line for sample in by_wer(tally.samples) for line in _sample_lines(sample))]


def by_wer(samples: tuple[Sample, ...]) -> list[Sample]:
    """The samples ordered by word error rate, lowest first."""
    return sorted(samples, key=lambda sample: (sample.edits.wer, sample.loss))


def _sample_lines(sample: Sample) -> list[str]:
    return [
        f"  WER {sample.edits.wer:.2%}, loss {sample.loss:.4f}: {sample.wav}",
        f"    said:  {sample.transcript!r}",
        f"    heard: {sample.hypothesis!r}",
    ]
