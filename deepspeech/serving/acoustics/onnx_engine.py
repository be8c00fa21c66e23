"""The acoustic model of a file in ONNX, run by onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...errors import GraphError, ModelError
from ..engine import LARGEST_TURN, AcousticEngine, Piece, State
from ..frozen.model import ModelInfo
from ..layers.layer import Array

INPUTS = WINDOWS, FRAMES, SAMPLES = "windows", "frames", "samples"
"""The kinds of input that a model takes; `deepspeech.export.onnx_model` writes such models."""

MOST_TOGETHER = 32
"""The most whole recordings that are computed together."""


@dataclass(frozen=True)
class Run:
    """The input of a run: any multiple of `shift`, and `overlap` more, which the next run takes again.

    With `shift` 0, a run takes whole recordings.
    """

    takes: str
    shift: int = 0
    overlap: int = 0

    @property
    def inputs(self) -> tuple[str, str]:
        """The names of the model's inputs of the batch and of its lengths."""
        return ("input_node", "input_lengths") if self.takes == WINDOWS else (self.takes, "lengths")

    @property
    def row_lengths(self) -> tuple[str, ...]:
        """The name of the output with the rows of each utterance; none if there is one for each window."""
        return () if self.takes == WINDOWS else ("row_lengths",)


class OnnxState(NamedTuple):
    """Input of an utterance that waits for more, float32 [held, n_input], and the state of the model, float32 [size].

    Neither is changed in place.
    """

    held: Array
    values: Array


class _Utterance(NamedTuple):
    """An utterance in a run: its windows, the shifts that it runs for, and the state before it."""

    windows: Array
    shifts: int
    state: OnnxState
    last: bool


class OnnxEngine(AcousticEngine):
    """Runs a model. Threads may share one, as it holds nothing but weights."""

    def __init__(self, session: Any, info: ModelInfo, run: Run) -> None:
        """Take an InferenceSession; raise GraphError unless its inputs and outputs are those of the model."""
        self._session = session
        self._info = info
        self._run = run
        per_frame = info.features.step * info.features.skip_frames if run.takes == SAMPLES else 1
        self._width = {WINDOWS: info.network.window_width, FRAMES: info.network.coefficients, SAMPLES: 1}[run.takes]
        self._least = info.features.window if run.takes == SAMPLES else 1
        self._state_sizes = _checked_states(session, info, run)
        self.streams = run.shift > 0
        self.largest_turn = max(LARGEST_TURN * per_frame, run.shift) if self.streams else None

    def initial_state(self) -> OnnxState:
        """Return the state before the first window."""
        size = sum(self._state_sizes.values())
        return OnnxState(np.zeros((0, self._width), np.float32), np.zeros(size, np.float32))

    def run_batch(self, pieces: Sequence[Piece], cores_left: int = 0) -> list[tuple[Array, State]]:
        """Return posteriors, float32 [rows, labels + 1], and the state after it for each piece of an utterance.

        They are the same but for rounding however an utterance is cut into pieces, and complete after the `last` piece.
        Raise ModelError if the model cannot be run. `cores_left` does not change the number of threads.
        """
        del cores_left
        utterances = [self._utterance(piece) for piece in pieces]
        results: list[tuple[Array, State] | None] = [None] * len(pieces)
        for group in _together(utterances):
            outputs = self._run_together([utterances[number] for number in group])
            for number, result in zip(group, outputs, strict=True):
                results[number] = result
        return [result for result in results if result is not None]

    def _utterance(self, piece: Piece) -> _Utterance:
        state = OnnxState(*piece.state)
        windows = np.concatenate([state.held, piece.windows]) if len(state.held) else piece.windows
        if not self.streams:
            shifts = int(bool(len(windows)) or self._run.takes == SAMPLES)
        elif piece.last and self._run.takes == SAMPLES:
            shifts = len(windows) // self._run.shift + 1  # a frame may begin where the samples end
        elif piece.last:
            shifts = -(-len(windows) // self._run.shift)
        else:
            shifts = max(0, len(windows) - self._run.overlap) // self._run.shift
        return _Utterance(windows, shifts, state, piece.last)

    def _run_together(self, group: Sequence[_Utterance]) -> list[tuple[Array, State]]:
        """Run utterances; those that do not end here have the same number of shifts."""
        shifts = max(each.shifts for each in group)
        if not shifts:
            nothing = np.zeros((0, self._info.network.outputs), np.float32)
            return [(nothing, each.state._replace(held=each.windows)) for each in group]
        longest = max(len(each.windows) for each in group)
        size = shifts * self._run.shift + self._run.overlap if self.streams else max(longest, self._least)
        batch = np.zeros((len(group), size, self._width), np.float32)
        for row, each in zip(batch, group, strict=True):
            row[: len(each.windows)] = each.windows[:size]
        lengths = np.array([min(len(each.windows), size) for each in group], np.int32)
        logits, counts, states = self._call(batch, lengths, np.stack([each.state.values for each in group]))
        done = shifts * self._run.shift
        return [
            (logits[:count, number], OnnxState(each.windows[done:], state))
            for number, (each, count, state) in enumerate(zip(group, counts, states, strict=True))
        ]

    def _call(self, batch: Array, lengths: Any, states: Array) -> tuple[Array, Any, Array]:
        """Return posteriors [rows, batch, labels + 1], the rows of each utterance, and the states after the run."""
        takes = self._run.takes
        shaped = batch[:, :, 0] if takes == SAMPLES else batch
        if takes == WINDOWS:
            shaped = batch.reshape(*batch.shape[:2], -1, self._info.network.coefficients)
        feed = dict(zip(self._run.inputs, (shaped, lengths), strict=True))
        splits = np.cumsum(list(self._state_sizes.values()))[:-1]
        feed |= dict(zip(self._state_sizes, np.split(states, splits, axis=1), strict=True)) if self._state_sizes else {}
        wanted = ["logits", *self._run.row_lengths, *map(_new, self._state_sizes)]
        try:
            logits, *rest = self._session.run(wanted, feed)
        except Exception as error:  # onnxruntime's errors have no common base
            raise ModelError(f"{self._info.path}: cannot be run by onnxruntime: {first_line(error)}") from None
        counts = rest.pop(0) if self._run.row_lengths else lengths
        return logits, counts, np.concatenate(rest, axis=1) if rest else states


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, or its kind if it has none."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _together(utterances: Sequence[_Utterance]) -> Iterator[list[int]]:
    """Yield the numbers of utterances in groups that are run together.

    Utterances that go on must have the same number of shifts. Utterances that end are padded to the longest of their
    group, which is at most twice as long.
    """
    going: dict[int, list[int]] = {}
    for number, each in enumerate(utterances):
        if not each.last:
            going.setdefault(each.shifts, []).append(number)
    yield from going.values()
    group: list[int] = []
    for number in sorted(
        (number for number, each in enumerate(utterances) if each.last), key=lambda number: -len(utterances[number][0])
    ):
        longest = len(utterances[group[0]].windows) if group else 0
        if group and (len(group) == MOST_TOGETHER or 2 * len(utterances[number].windows) < longest):
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _checked_states(session: Any, info: ModelInfo, run: Run) -> dict[str, int]:
    """Return the sizes of the states by name; raise GraphError if the inputs or outputs are not those of a model."""
    inputs = {each.name: each for each in session.get_inputs()}
    outputs = {each.name: each for each in session.get_outputs()}
    states = {WINDOWS: ("previous_state_c", "previous_state_h")}.get(run.takes, ("previous_state",) * (run.shift > 0))
    wanted = {"logits", *run.row_lengths, *map(_new, states)}
    if set(inputs) != {*run.inputs, *states} or not wanted <= set(outputs):
        raise GraphError("has other inputs or outputs than a model of its kind")
    shape = {
        WINDOWS: [2 * info.network.context + 1, info.network.coefficients],
        FRAMES: [info.network.coefficients],
        SAMPLES: [],
    }[run.takes]
    sizes = {name: inputs[name].shape[1] for name in states if len(inputs[name].shape) == 2}
    if (
        inputs[run.inputs[0]].shape[2:] != shape
        or outputs["logits"].shape[2:] != [info.network.outputs]
        or len(sizes) != len(states)
        or not all(isinstance(size, int) and size > 0 for size in sizes.values())
    ):
        raise GraphError("its inputs and outputs do not fit its network")
    return sizes


def _new(state: str) -> str:
    return state.replace("previous", "new")
