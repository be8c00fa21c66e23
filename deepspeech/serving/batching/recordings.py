"""Recognition of whole recordings, whose parts are computed together."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import AudioError, SamplesError
from ..confidence.words import Rivals
from ..engine import Piece
from ..layers.layer import Array
from ..long_audio import Part
from ..recognition import Recognizer, blocks_of
from ..transcripts import Transcript

SECONDS_TOGETHER = 240.0
"""Seconds of audio that are computed together; a second's windows take 100 KB."""

LARGEST_GROUP = 1 << 26
"""The most bytes of posteriors that are decoded together, if of several signals; thousands of labels take many."""


@dataclass
class Recognized:
    """A recording's candidates by its parts, each with its start in seconds; or the reason why it cannot be used."""

    parts: list[tuple[float, list[Transcript]]] = field(default_factory=list)
    error: AudioError | SamplesError | None = None
    read: bool = False


def recognized(
    recordings: Iterable[Iterable[Part]], sample_rate: int, recognizer: Recognizer, count: int
) -> Generator[Recognized, None, None]:
    """Yield the result of each recording, in order, while no more than SECONDS_TOGETHER are held in memory.

    Each part has up to `count` transcripts. The recurrence needs no padding, so the order of the recordings does not
    affect its speed.
    """
    waiting: deque[Recognized] = deque()
    together: list[tuple[Recognized, Part]] = []

    def recognize_parts() -> None:
        candidates = _transcripts([part.samples for _, part in together], recognizer, count)
        for (recording, part), of_part in zip(together, candidates, strict=True):
            recording.parts.append((part.start, of_part))
        together.clear()

    for parts in recordings:
        recording = Recognized()
        waiting.append(recording)
        try:
            for part in parts:
                together.append((recording, part))
                if sum(len(each.samples) for _, each in together) >= SECONDS_TOGETHER * sample_rate:
                    recognize_parts()
                    while waiting[0].read:
                        yield waiting.popleft()
        except (AudioError, SamplesError) as error:
            recording.error = error
        recording.read = True
    recognize_parts()
    yield from waiting


def _transcripts(signals: Sequence[Array], recognizer: Recognizer, count: int) -> list[list[Transcript]]:
    """Return up to `count` transcripts of each signal, float32 [samples] in [-1, 1], best first."""
    if not signals:
        return []
    engine, pieces = recognizer.scheduler.engine, []
    for signal in signals:
        stream = recognizer.features.windows()
        windows = np.concatenate([*map(stream.feed, blocks_of(signal)), stream.finish()])
        pieces.append(Piece(windows, engine.initial_state(), last=True))
    rows = [posteriors for posteriors, _ in engine.run_batch(pieces)]
    made: dict[int, list[Transcript]] = {}
    for group in _alike(rows):
        posteriors = [rows[number] for number in group]
        with recognizer.naming_the_model():
            decoded = recognizer.decoder.decode_batch(_padded(posteriors), [len(each) for each in posteriors])
        for number, hypotheses in zip(group, decoded, strict=True):
            rivals = Rivals()
            rivals.feed(rows[number])
            end = len(signals[number]) / recognizer.info.features.sample_rate
            made[number] = recognizer.transcripts(hypotheses, rivals, count, end)
    return [made[number] for number in range(len(rows))]


def _alike(rows: Sequence[Array]) -> Iterator[list[int]]:
    """Yield the numbers of signals, the longest first, in groups that take at most LARGEST_GROUP when padded."""
    group: list[int] = []
    for number in sorted(range(len(rows)), key=lambda number: -len(rows[number])):
        if group and (len(group) + 1) * rows[group[0]].nbytes > LARGEST_GROUP:
            yield group
            group = []
        group.append(number)
    yield group


def _padded(rows: Sequence[Array]) -> Array:
    """Return posteriors [rows, columns] of several signals, the longest first, as [signals, rows, columns]."""
    padded = np.zeros((len(rows), *rows[0].shape), np.float32)
    for of_signal, each in zip(padded, rows, strict=True):
        of_signal[: len(each)] = each
    return padded
