"""Reading a corpus: lists of utterances, of which every row is checked before training."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from os import PathLike
from pathlib import Path
from typing import overload

import numpy as np
import numpy.typing as npt

from .audio import resampled_length
from .checks.bad_rows.exclusion import Exclusions
from .checks.checked_recordings import checked_recordings
from .checks.contradictions import contradictions
from .checks.inspection import Inspection
from .checks.transcripts import doubts, odd_characters, summed_up
from .corpus_files import Row, read_files
from .errors import AlphabetError, AudioError, BadRow, CorpusError
from .features import FrontEnd
from .figures.counted import counted
from .parallel import map_in_threads_if_slow
from .parts import Part, PartError
from .progress import Progress
from .shards.windows import SHARD_WINDOW, in_windows
from .storage.copies import named_for_all
from .text import Alphabet, outputs_needed
from .transcripts import Normalizer

log = logging.getLogger(__name__)

_CHECKING_THREADS = 16  # more than cores, as they mostly wait for the disk
_ROWS_AT_ONCE = 64
_QUICK_SECONDS = 0.001 * _ROWS_AT_ONCE  # what checking takes where recordings need no decoding and are in memory


@dataclass(frozen=True, slots=True, eq=False)
class Utterance:
    """One recording, or a part of one, and its transcript."""

    path: str
    transcript: str
    labels: npt.NDArray[np.int32]
    """The labels of the transcript, int32 [characters]."""
    samples: int
    """Samples of the recording or its part, at the model's sample rate."""
    frames: int
    """Frames of the front end, before stacking."""
    file_size: int
    """Bytes of the whole recording."""
    modified_ns: int
    """The recording's modification time, in nanoseconds."""
    csv_file: str
    """The list; see `corpus_files.listing`."""
    line: int
    part: Part | None = None
    """The part to read, within the recording's length; None: all of it."""
    written_as: str = ""
    """The transcript in the form of hypotheses, if that is different; see `reference`."""

    @property
    def place(self) -> str:
        """The recording, a copy by its address, and its part, as in "talk.flac#t=12.500,15.000"."""
        return f"{named_for_all(self.path)}{self.part.fragment if self.part else ''}"

    @property
    def reference(self) -> str:
        """The text to compare hypotheses with."""
        return self.written_as or self.transcript

    @property
    def source(self) -> str:
        """The place in the list, as in "train.csv:12"."""
        return f"{named_for_all(self.csv_file)}:{self.line}"


@dataclass(frozen=True, eq=False)
class Corpus(Sequence[Utterance]):
    """Utterances, shortest first; in shards, shortest first within each window of shards."""

    utterances: tuple[Utterance, ...]
    sample_rate: int
    """Hz; the rate of `Utterance.samples`."""
    windows: tuple[int, ...] = (0,)
    """The first utterance of each window; a window is read, mixed and used together."""

    def __len__(self) -> int:
        return len(self.utterances)

    @overload
    def __getitem__(self, index: int) -> Utterance: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Utterance]: ...
    def __getitem__(self, index: int | slice) -> Utterance | Sequence[Utterance]:
        return self.utterances[index]

    @property
    def hours(self) -> float:
        """The total duration of all recordings."""
        return sum(utterance.samples for utterance in self.utterances) / self.sample_rate / 3600

    @property
    def effort(self) -> list[int]:
        """The samples of the first n utterances, by n: shorter ones, which are first, take less time."""
        return list(accumulate((utterance.samples for utterance in self.utterances), initial=0))


def read_corpus(
    csv_files: Iterable[str | PathLike[str]],
    alphabet: Alphabet,
    front_end: FrontEnd,
    *,
    limit: int = 0,
    skip_bad_rows: bool = False,
    progress: bool = True,
    remembered: Path | None = None,
    normalizer: Normalizer | None = None,
    excluded: Exclusions | None = None,
    frames_per_row: int = 1,
    shards_mixed: int = SHARD_WINDOW,
) -> Corpus:
    """Read lists into one corpus, shortest utterance first (equal ones in the order of the lists).

    Tar shards form windows of `shards_mixed` neighbours (0: all); only utterances of one window are sorted
    together, so that few shards are read at once. Spaces at the ends of transcripts, and repeated spaces, are
    removed, with a line in the log. A `normalizer` is applied to transcripts, and lines in the log count their
    digits and symbols. Relative recordings are looked for from their list's folder; rows with times are parts of
    recordings. `limit` keeps that many of the shortest, 0 all.

    `excluded` rows are left out first, and counted in the log; raise CorpusError if none remain. Raise CorpusError also
    if there is no list, a list cannot be read, lacks a column or has no rows, or for bad rows: the recording cannot be
    read to its end, is empty or silent; the transcript is empty, has characters outside the alphabet, or more labels
    than CTC fits into the outputs, one per `frames_per_row` frames. With `skip_bad_rows` bad rows are logged and left
    out, unless all are bad. Raise StorageError if the store of a recording fails, which is no fault of its row.
    Recordings in the file `remembered` (see `checked_recordings`) are not decoded again; the others are added to it.
    """
    paths = [Path(csv_file) for csv_file in csv_files]
    names = ", ".join(named_for_all(path) for path in paths)
    with Progress(f"Reading {names}", None, progress, unit="row", told_if_short=False) as bar:
        rows = _remaining(list(bar.counting(read_files(paths, normalizer))), excluded, names)

    def check_rows(rows: Sequence[Row | BadRow]) -> list[Utterance | BadRow]:
        return [_check_row(row, alphabet, front_end, inspection, frames_per_row) for row in rows]

    title, checked = f"Checking {names}", list[Utterance | BadRow]()
    with checked_recordings(remembered) as known, Progress(title, len(rows), progress, unit="row") as bar:
        inspection = Inspection(known)
        for results in map_in_threads_if_slow(check_rows, _chunks(rows), _CHECKING_THREADS, _QUICK_SECONDS):
            checked += results
            bar.advance(len(results))
    utterances = [each for each in checked if isinstance(each, Utterance)]
    bad_rows = [each for each in checked if isinstance(each, BadRow)]
    _report_spaces(rows, names)
    if normalizer:
        read = [(row.source, row.transcript, row.lost) for row in rows if isinstance(row, Row)]
        for line in doubts(read):
            log.warning("%s: %s", names, line)
    if bad_rows:
        listed = summed_up(bad_rows, alphabet, normalizer)
        count = f"{counted(len(bad_rows), 'bad row')} of {len(rows)} in {names}"
        _report_bad_rows(listed, count, skip_bad_rows and len(utterances) > 0)
    title = f"Comparing the transcripts of {names}"
    with Progress(title, len(utterances), progress, unit="row", told_if_short=False) as bar:
        doubtful = list(odd_characters([(utterance.source, utterance.transcript) for utterance in utterances]))
        doubtful += contradictions((each.place, each.transcript, each.source) for each in bar.counting(utterances))
    for line in doubtful:
        log.warning("%s: %s", names, line)
    utterances.sort(key=lambda utterance: utterance.samples)
    ordered, windows = in_windows(utterances[: limit or None], shards_mixed)
    return Corpus(tuple(ordered), front_end.options.sample_rate, windows)


def _remaining(rows: list[Row | BadRow], excluded: Exclusions | None, names: str) -> list[Row | BadRow]:
    if excluded is None:
        return rows
    remaining = excluded.remaining(rows)
    lists = ", ".join(map(named_for_all, excluded.files))
    if len(remaining) == len(rows) and (excluded.lines or excluded.recordings):
        log.warning(
            "%s: no row is left out: nothing that %s names is read here; "
            "relative names are looked for from the folder of the list that has them",
            names,
            lists,
        )
        return remaining
    log.info("%s: %d of %d rows left out, as listed in %s", names, len(rows) - len(remaining), len(rows), lists)
    if not remaining:
        raise CorpusError(f"{names}: all rows are left out, as listed in {lists}")
    return remaining


def _chunks(rows: Sequence[Row | BadRow]) -> Iterator[list[Row | BadRow]]:
    remaining = iter(rows)
    while chunk := list(islice(remaining, _ROWS_AT_ONCE)):
        yield chunk


def _check_row(
    row: Row | BadRow, alphabet: Alphabet, front_end: FrontEnd, inspection: Inspection, frames_per_row: int
) -> Utterance | BadRow:
    if isinstance(row, BadRow):
        return row
    if not row.path:
        return row.bad("no wav_filename")
    if not row.transcript.strip():
        return row.bad("empty transcript")
    try:
        labels = alphabet.encode(row.transcript)
        audio, part = (row.audio, None) if row.audio else inspection.inspect(row.path, row.part)
    except AlphabetError as error:
        return row.bad(f"transcript {row.transcript!r}: {error}", row.transcript)
    except AudioError as error:
        return row.bad(str(error))
    except PartError as error:
        return row.bad(f"{row.path}: {error}")
    if audio.silent:
        averaged = ", its channels averaged" if audio.channels > 1 else ""
        return row.bad(f"{row.path}: silent: all its samples are the same{averaged}")
    samples = resampled_length(audio.samples, audio.sample_rate, front_end.options.sample_rate)
    frames = front_end.frame_count(samples)
    outputs = -(-front_end.options.stacking.count(frames) // frames_per_row)
    if (needed := outputs_needed(labels)) > outputs:
        unit = "frames" if frames_per_row == 1 else f"outputs of {frames_per_row} frames"
        return row.bad(f"{row.path}: {outputs} {unit}, too few for its transcript: CTC needs {needed}")
    of_file = audio.file_size, audio.modified_ns
    return Utterance(row.path, row.transcript, labels, samples, frames, *of_file, row.csv_file, row.line, part)


def _report_spaces(rows: Sequence[Row | BadRow], names: str) -> None:
    respaced = [row for row in rows if isinstance(row, Row) and row.respaced]
    if respaced:
        log.warning(
            "%s: %d %s spaces at an end or several in a row, which are removed, such as that of %s",
            names,
            len(respaced),
            "transcript has" if len(respaced) == 1 else "transcripts have",
            respaced[0].source,
        )


def _report_bad_rows(listed: Sequence[BadRow], count: str, skip: bool) -> None:
    if not skip:
        raise CorpusError(f"{count}; correct or remove the rows listed here:", listed)
    log.warning("Skipping %s:", count)
    for bad_row in listed:
        log.warning("%s", bad_row)
