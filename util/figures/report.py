"""A tally as lines of the log."""

import re
from collections.abc import Sequence
from datetime import datetime, timezone
from itertools import zip_longest

from .counted import counted
from .errors.alignment import ErrorKinds
from .metrics import EditCounts
from .tally import Sample, Tally

_JOINER = re.compile(r"(?<!\\)((?:\\\\)*)\\u(200[cd])")
"""An escaped joiner; a backslash of the text itself is written as two."""


def report_lines(title: str, tally: Tally, *, decoded: bool = True, files: Sequence[str] = ()) -> list[str]:
    """Return the lines of a report: a headline, the errors by kind, and the samples, ordered by word error rate.

    Without `decoded`, the headline has only the loss. `files` names the CSV files that the tally counts separately;
    each has its own headline, before that of all together.
    """
    if not decoded:
        return [f"{title}: loss {tally.mean_loss:.4f}"]
    of_files = [
        _headline(f"{title} of {name}", of_file)
        for name, of_file in zip_longest(files, tally.files[: len(files)], fillvalue=Tally())
    ]
    samples = (line for sample in by_wer(tally.samples) for line in _sample_lines(sample))
    return [*of_files, _headline(title, tally), *_kinds_of_errors(tally.edits), *samples]


def wer_line(pattern: str, set_name: str, tally: Tally) -> str:
    """Return the line in the form of `--wer_log_pattern`: the set's name, the time in UTC and the word error rate."""
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return pattern % (set_name, now, tally.edits.wer)


def by_wer(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples ordered by word error rate, lowest first."""
    return sorted(samples, key=lambda sample: (sample.edits.wer, sample.loss))


def _headline(title: str, tally: Tally) -> str:
    edits = tally.edits
    if not edits.utterances:
        return f"{title}: no utterances"
    return (
        f"{title}: loss {tally.mean_loss:.4f}"
        f", WER {edits.wer:.2%}, CER {edits.cer:.2%}, mean edit distance {edits.mean_edit_distance:.3f}"
        f" ({counted(edits.utterances, 'utterance')}, {counted(edits.words, 'word')})"
    )


def _kinds_of_errors(edits: EditCounts) -> list[str]:
    """Return the line of the word errors by kind; none without words, or if older counts are included."""
    kinds = ErrorKinds(edits.substitutions, edits.insertions, edits.deletions)
    if not edits.utterances or kinds.total != edits.word_edits:
        return []
    rates = f"{edits.syllable_error_rate:.2%} with tones, {edits.toneless_syllable_error_rate:.2%} without"
    of_syllables = (
        [f"  syllable errors: {rates} ({counted(edits.syllables, 'syllable')})"] if edits.are_mandarin else []
    )
    return [f"  word errors: {kinds.in_words}", *of_syllables]


def _sample_lines(sample: Sample) -> list[str]:
    return [
        f"  WER {sample.edits.wer:.2%}, loss {sample.loss:.4f}: {sample.wav}",
        f"    said:  {_quoted(sample.transcript)}",
        f"    heard: {_quoted(sample.hypothesis)}",
    ]


def _quoted(text: str) -> str:
    """Return a text in quotation marks, with escapes for what a terminal does not show, except joiners of letters."""
    return _JOINER.sub(lambda escape: f"{escape[1]}{chr(int(escape[2], 16))}", repr(text))
