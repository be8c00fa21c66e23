"""The measurements of lists of recordings that decide how to train on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median, median_low
from typing import TypeVar

import numpy as np

from ...util.audio import inspect_audio
from ...util.checks.inspection import Inspection
from ...util.corpus_files import Row
from ...util.corpus_files.speakers import speaker_of
from ...util.errors import AudioError, CorpusError
from ...util.figures.errors.levels import Levels, levels_of_file
from ...util.importing.formats.lists.of_any_kind import lists_in, rows_of
from ...util.importing.pipeline.folders import set_of_name
from ...util.importing.pipeline.records import DEFAULT_SPLIT, DEV, SETS, TEST, TRAIN
from ...util.output_units import ByteAlphabet
from ...util.parallel import ordered_map, usable_cores
from ...util.parts import WHOLE
from ...util.text import Alphabet, outputs_needed
from ...util.transcripts import Normalizer

Found = TypeVar("Found")

RECORDINGS_LOOKED_AT = 1000
"""The most recordings that are inspected; they are spread evenly over the corpus."""
RECORDINGS_HEARD = 100
"""Of the inspected recordings, about this many are decoded."""
FASTEST_SPEECH = 99.0
"""The percentile of the labels a second."""


@dataclass(frozen=True)
class Measured:
    """The size of a corpus."""

    utterances: int
    """To train on."""
    seconds: float
    """Of an utterance, on average."""
    speakers: int
    """0 if the lists do not name them."""
    labels: int
    """Distinct characters of the normalized transcripts."""
    labels_a_second: float
    """Outputs a second that CTC needs for 99 % of the utterances: labels, and blanks between two equal labels.

    Labels are those of the normalized transcripts: bytes if these are the output unit, else characters. Other output
    units do not have more.
    """
    sample_rate: int
    """Hz, of the median recording."""
    output_unit: str = Alphabet.unit
    silence: float = math.inf
    """Seconds before and after the speech together, of the median recording; infinity if not measured."""

    @property
    def hours(self) -> float:
        """Of the utterances to train on."""
        return self.utterances * self.seconds / 3600


def measure(
    sources: Sequence[Path],
    normalizer: Normalizer | None,
    output_unit: str = Alphabet.unit,
    split: Sequence[float] | None = None,
) -> Measured:
    """Return the size of the training set of lists, or of those in a folder, for a model of this output unit.

    With `split`, all rows are divided into the three sets in these shares; else dev and test are taken from the
    training set only if there is no list for them. Raise ImportingError for a folder without lists, CorpusError for a
    list that cannot be read, and for lists without a readable recording.
    """
    given = [path for source in sources for path in (lists_in(source) if source.is_dir() else (source,))]
    lists, trained_on = _training_lists(given, split)
    rows, speakers, characters = 0, set[str](), set[str]()
    for row, columns in _rows(lists):
        rows += 1
        speakers.add(speaker_of(columns))
        characters.update(normalizer(row.transcript) if normalizer else row.transcript)
    step = max(1, rows // RECORDINGS_LOOKED_AT)
    chosen = [row for number, (row, _) in enumerate(_rows(lists)) if number % step == 0]
    in_bytes = output_unit == ByteAlphabet.unit
    inspect = partial(_inspect, inspection=Inspection(), normalizer=normalizer, in_bytes=in_bytes)
    found = _each_found(inspect, chosen)
    if not found:
        names = ", ".join(map(str, sources))
        raise CorpusError(f"{names}: none of the recordings looked at can be read{_why_not(chosen)}")
    return Measured(
        round(rows * trained_on) or rows,
        mean(seconds for seconds, *_ in found),
        len(speakers - {""}),
        len(characters),
        float(np.percentile([needed / seconds for seconds, _, needed in found], FASTEST_SPEECH)),
        median_low([rate for _, rate, _ in found]),
        output_unit,
        _silence(chosen),
    )


def _training_lists(lists: Sequence[Path], split: Sequence[float] | None) -> tuple[Sequence[Path], float]:
    """Return the lists that the training set is taken from, and the share of their rows that stays in it."""
    shares = dict(zip(SETS, split or DEFAULT_SPLIT, strict=True))
    whole = sum(shares.values())
    if split:
        return lists, shares[TRAIN] / whole
    names = [set_of_name(path.stem) for path in lists]
    taken = sum(shares[name] for name in {DEV, TEST}.difference(names))
    others = [path for path, name in zip(lists, names, strict=True) if name not in (DEV, TEST)]
    return others or lists, 1 - taken / whole


def _why_not(rows: Sequence[Row]) -> str:
    """Return the error of the first row as the end of a sentence; nothing if its recording can be read."""
    try:
        for row in rows[:1]:
            inspect_audio(row.path)
    except AudioError as error:
        return f", such as that of {rows[0].csv_file}:{rows[0].line}: {error}"
    return ""


def _silence(rows: Sequence[Row]) -> float:
    """Return the seconds of silence before and after the speech of the median recording."""
    found = _each_found(_levels, rows[:: max(1, len(rows) // RECORDINGS_HEARD)])
    return median(each.silence_around for each in found) if found else math.inf


def _levels(row: Row) -> Levels | None:
    return levels_of_file(row.path, row.part)


def _each_found(look: Callable[[Row], Found | None], rows: Sequence[Row]) -> list[Found]:
    """Return the result for each row, on all cores; rows that cannot be read are left out."""
    cores = usable_cores()
    return [each for each in ordered_map(look, rows, cores, 4 * cores) if each is not None]


def _rows(lists: Sequence[Path]) -> Iterator[tuple[Row, dict[str, str]]]:
    for path in lists:
        for row, columns in rows_of(path):
            if isinstance(row, Row):
                yield row, columns


def _inspect(
    row: Row, inspection: Inspection, normalizer: Normalizer | None, in_bytes: bool
) -> tuple[float, int, int] | None:
    """Return a row's seconds, sample rate and the outputs that CTC needs; None if it cannot be read."""
    try:
        audio, _ = inspection.inspect(row.path, row.part and WHOLE)  # once for all parts of it
    except AudioError:
        return None
    seconds = audio.samples / audio.sample_rate
    if row.part is not None:
        seconds = min(row.part.end, seconds) - row.part.start
    transcript = normalizer(row.transcript) if normalizer else row.transcript
    labels = transcript.encode() if in_bytes else map(ord, transcript)
    needed = outputs_needed(np.array(list(labels), np.int32))
    return (seconds, audio.sample_rate, needed) if seconds > 0 else None
