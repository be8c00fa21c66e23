"""The most likely CTC path through a given transcript, from posteriors.

CTC's paths: Graves et al., "Connectionist temporal classification" (2006), section 3; the alignment of long recordings
by them: Kürzinger et al., "CTC-segmentation of large corpora for German end-to-end speech recognition" (2020).
A path visits the states blank 0, label 0, blank 1, label 1, …, label L - 1, blank L in this order, one state a frame.
It can pass over a blank, unless the labels on both sides of it are the same, but not over a label. With the
log posteriors y, the most likely path to each state of a frame has the score

    label(t, i) = y(t, l(i)) + max(label(t - 1, i), blank(t - 1, i), label(t - 1, i - 1) unless l(i) = l(i - 1))
    blank(t, i) = y(t, blank) + max(blank(t - 1, i), label(t - 1, i - 1))

Only a band of states is computed in each frame, as an hour of speech has 10 ** 10 states. The band follows the most
likely state. If the path comes close to an edge of the band, the search is repeated with a band twice as wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import AlignmentError
from ...util.text import outputs_needed
from ..posteriors import Floats, logarithms

BAND = 2048
"""The initial number of labels in a band: about two and a half minutes of speech."""
FRAMES_PER_MOVE = 64
"""Frames between two moves of the band; in each frame, a path advances by at most one label."""
MOST_POINTERS = 1 << 29
"""The most bytes of back-pointers at once; with more, those of earlier frames are computed again when they are read."""
MOST_STATES = 1 << 34
"""The most states of a band in all frames, which take some minutes; a wider one is not tried."""

Labels = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class LabelSpans:
    """When each label of a transcript is emitted. Arrays are [labels]; the spans are in order and do not overlap."""

    first: Labels
    """The label's first frame, int32."""
    last: Labels
    """Its last frame, int32, inclusive."""
    score: npt.NDArray[np.float32]
    """The mean of the label's log posterior, in nats, over the frames of its span."""
    path_score: float
    """The log probability of the whole path, in nats, including its blanks."""


def align_labels(posteriors: Floats, labels: Labels, band: int = BAND) -> LabelSpans:
    """Return the spans of labels, int32 [L], on the most likely path through posteriors, float [frames, labels + 1].

    The blank is the last of the posteriors' labels. `band` is the initial number of labels whose states are searched in
    a frame. Raise AlignmentError if there are no labels, or fewer frames than they need.
    """
    return align_log_posteriors(logarithms(posteriors), labels, band)


def align_log_posteriors(log_posteriors: Floats, labels: Labels, band: int = BAND) -> LabelSpans:
    """Return what `align_labels` does, from finite log posteriors [frames, labels + 1] of any float type."""
    needed = outputs_needed(labels)
    if not len(labels):
        raise AlignmentError("the transcript has no labels to align")
    if len(log_posteriors) < needed:
        raise AlignmentError(
            f"the transcript does not fit the recording: {len(labels)} labels need {needed} frames, "
            f"and there are {len(log_posteriors)}"
        )
    band = max(band, 2 * (FRAMES_PER_MOVE + 1))  # so no path from its middle leaves it before it moves
    while True:
        search = _Search(log_posteriors, labels, min(band, len(labels)))
        path = search.run()
        wider = 2 * band
        too_large = len(log_posteriors) * wider > MOST_STATES
        if band >= len(labels) or too_large or not search.is_near_edge(path):
            return _spans(path, log_posteriors, labels)
        band = wider


class _Search:
    """One search with a band of `band` labels, each with the blank before it, and the blank after the last.

    Arrays of a frame cover the band: `label[j]` is the state of label `start + j`, `blank[j]` that of the blank before
    it.
    """

    def __init__(self, log_posteriors: Floats, labels: Labels, band: int) -> None:
        self._emitted = log_posteriors
        self._labels = labels
        self._band = band
        blocks = -(-len(log_posteriors) // FRAMES_PER_MOVE)
        self._starts = np.zeros(blocks, np.int64)
        bits = -(-(band + 1) // 8)
        frames_kept = max(1, MOST_POINTERS // (3 * bits * FRAMES_PER_MOVE)) * FRAMES_PER_MOVE
        self._stretches = [range(*each) for each in _bounds(len(log_posteriors), frames_kept)]
        self._pointers = np.zeros((len(self._stretches[0]), 3, bits), np.uint8)
        # One more label, which no path enters, gives the blank after the last label an index of its own.
        self._filled = np.append(labels, labels[-1]).astype(np.intp)
        repeats = np.zeros(len(self._filled), bool)
        repeats[1:-1] = labels[1:] == labels[:-1]
        self._skip = np.where(repeats, -np.inf, 0.0)
        self._skip[0] = -np.inf
        # Frames that a path needs after a frame at label L, L - 1, …, 0; at the blank before that label, one more.
        steps = np.concatenate([[-1, 1], 1 + repeats[1:-1][::-1]])
        self._needed_after = np.cumsum(steps)

    def run(self) -> Labels:
        """Return the state of each frame on the most likely path: 2 i for blank i, 2 i + 1 for label i."""
        width = self._band + 1
        label, blank = np.full(width, -np.inf), np.full(width, -np.inf)
        before = []
        for stretch in self._stretches:
            before.append((label, blank))
            label, blank = self._run_stretch(label, blank, stretch)
        end = len(self._labels) - int(self._starts[-1])
        in_blank = bool(blank[end] > label[end - 1])
        place = len(self._labels) - (not in_blank)
        states = np.empty(len(self._emitted), np.int32)
        for stretch, (label, blank) in zip(reversed(self._stretches), reversed(before), strict=True):
            if stretch is not self._stretches[-1]:
                self._run_stretch(label, blank, stretch)  # its back-pointers again
            place, in_blank = self._trace(states, stretch, place, in_blank)
        return states

    def _run_stretch(self, label: Floats, blank: Floats, stretch: range) -> tuple[Floats, Floats]:
        """Return the scores after a stretch of frames, [band + 1] each, from those before it."""
        for first, end in _bounds(len(stretch), FRAMES_PER_MOVE):
            frames = range(stretch.start + first, stretch.start + end)
            block = frames.start // FRAMES_PER_MOVE
            start = int(self._starts[block - 1]) if block else 0
            new_start = self._place(label, blank, start, len(self._emitted) - frames.start) if block else 0
            label, blank = _moved(label, new_start - start), _moved(blank, new_start - start)
            if not block:
                blank[0] = 0.0  # before the first frame, the path is in the first blank
            self._starts[block] = new_start
            label, blank = self._run_block(label, blank, new_start, frames, self._pointers[first:end])
        return label, blank

    def _place(self, label: Floats, blank: Floats, start: int, frames_left: int) -> int:
        """Drop the states that cannot reach the end in the frames that are left; return where the band begins next.

        It begins half a band before the most likely state, but never moves back.
        """
        for scores, spare in ((label, frames_left), (blank, frames_left - 1)):
            reaching = int(np.searchsorted(self._needed_after, spare, side="right"))
            scores[: max(0, len(self._needed_after) - reaching - start)] = -np.inf
        likeliest = start + int(np.argmax(np.maximum(label, blank)))
        return min(max(likeliest - self._band // 2, start), len(self._labels) - self._band)

    def _run_block(
        self, label: Floats, blank: Floats, start: int, frames: range, pointers: npt.NDArray[np.uint8]
    ) -> tuple[Floats, Floats]:
        """Return the scores after frames, [band + 1] each, from those before them; write their back-pointers."""
        width = self._band + 1
        skip = self._skip[start : start + width]
        columns = self._filled[start : start + width]
        emitted = self._emitted[frames.start : frames.stop]
        of_labels = emitted[:, columns].astype(np.float64)
        if start + self._band == len(self._labels):
            of_labels[:, -1] = -np.inf
        of_blank = emitted[:, -1].astype(np.float64)
        before = np.full(width, -np.inf)  # the label before each one
        skipped, entered = np.empty(width), np.empty(width)
        choices = np.empty((len(frames), 3, width), bool)
        for row, (stays, skips, from_label) in enumerate(choices):
            before[1:] = label[:-1]
            np.add(before, skip, out=skipped)
            np.greater(skipped, blank, out=skips)
            np.maximum(skipped, blank, out=entered)
            np.greater_equal(label, entered, out=stays)
            np.maximum(label, entered, out=label)
            label += of_labels[row]
            np.greater(before, blank, out=from_label)
            np.maximum(before, blank, out=blank)
            blank += of_blank[row]
        pointers[:] = np.packbits(choices, axis=2)
        best = max(label.max(), blank.max())
        return label - best, blank - best

    def _trace(self, states: Labels, stretch: range, place: int, in_blank: bool) -> tuple[int, bool]:
        """Write the states of a stretch, whose last one is given; return the state before the stretch."""
        for frame in reversed(stretch):
            states[frame] = 2 * place + (not in_blank)
            byte, bit = divmod(place - int(self._starts[frame // FRAMES_PER_MOVE]), 8)
            choices = self._pointers[frame - stretch.start, :, byte]
            stays, skips, from_label = (int(choice) >> (7 - bit) & 1 for choice in choices)
            if in_blank:
                if from_label:
                    place, in_blank = place - 1, False
            elif not stays:
                place, in_blank = (place - 1, False) if skips else (place, True)
        return place, in_blank

    def is_near_edge(self, states: Labels) -> bool:
        """Return whether a path comes closer to an edge of the band than an eighth of the band, except at the ends."""
        margin = self._band // 8
        starts = np.repeat(self._starts, FRAMES_PER_MOVE)[: len(states)]
        places = states // 2
        low = (places - starts < margin) & (starts > 0)
        high = (starts + self._band - places < margin) & (starts + self._band < len(self._labels))
        return bool(np.any(low | high))


def _bounds(frames: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of stretches of at most `most` frames."""
    return ((first, min(first + most, frames)) for first in range(0, frames, most))


def _moved(scores: Floats, places: int) -> Floats:
    """Return the scores of a band that begins `places` labels later."""
    moved = np.full(len(scores), -np.inf)
    moved[: len(scores) - places] = scores[places:]
    return moved


def _spans(states: Labels, log_posteriors: Floats, labels: Labels) -> LabelSpans:
    frames = np.flatnonzero(states % 2)
    of_labels = states[frames] // 2
    first = frames[np.searchsorted(of_labels, np.arange(len(labels)), side="left")]
    last = frames[np.searchsorted(of_labels, np.arange(len(labels)), side="right") - 1]
    columns = np.full(len(states), log_posteriors.shape[1] - 1)
    columns[frames] = labels[of_labels]
    emitted = log_posteriors[np.arange(len(states)), columns].astype(np.float64)
    sums = np.bincount(of_labels, emitted[frames], len(labels))
    score = sums / (last - first + 1)
    return LabelSpans(first.astype(np.int32), last.astype(np.int32), score.astype(np.float32), float(emitted.sum()))
