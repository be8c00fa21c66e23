"""The acoustic model of a LiteRT file, which takes a fixed number of windows of features in each run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from ....errors import GraphError
from ....util.files.quiet_stderr import without_tensorflows_lines
from ....util.parallel import call_in_forked_children
from ...engine import LARGEST_TURN, AcousticEngine, Piece
from ...layers.layer import Array
from .network import NetworkFile


class LiteRTState(NamedTuple):
    """The state of an utterance: that of the LSTMs, and the windows that wait for a full run, [time, n_input]."""

    c: Array
    h: Array
    waiting: Array


class LiteRTEngine(AcousticEngine):
    """Runs a network by LiteRT. Threads may share one, and run one after the other; a forked child loads it again.

    Windows wait until a run is full; after an utterance's last windows, zeros fill the run.
    """

    streams = True
    largest_turn = LARGEST_TURN
    _interpreter: Any
    """LiteRT's interpreter, which is loaded in the first run."""

    def __init__(self, network: NetworkFile) -> None:
        """Take a network. Raise GraphError if LiteRT cannot run it."""
        self._network = network
        self._begin()
        call_in_forked_children(self, LiteRTEngine._begin)
        self.run(np.zeros((1, network.window_width), np.float32), self.initial_state(), last=True)

    def initial_state(self) -> LiteRTState:
        """Return the state before the first frame."""
        zeros = np.zeros((1, self._network.units), np.float32)
        return LiteRTState(zeros, zeros, np.zeros((0, self._network.window_width), np.float32))

    def run_batch(self, pieces: Sequence[Piece], cores_left: int = 0) -> list[tuple[Array, LiteRTState]]:
        """Return posteriors, float32 [rows, labels + 1], and the state after it for each piece of an utterance.

        They are complete after the `last` piece. Raise GraphError if they are not finite. The computation uses one
        core.
        """
        del cores_left
        with self._lock:
            if self._interpreter is None:
                self._interpreter = _loaded(self._network.content)
            return [self._run_piece(self._interpreter, *piece) for piece in pieces]

    def _run_piece(self, interpreter: Any, windows: Array, state: Any, last: bool) -> tuple[Array, LiteRTState]:
        c, h, waiting = state
        steps = self._network.input_shape[1]
        windows = np.concatenate([waiting, windows])
        end = len(windows) if last else len(windows) // steps * steps
        rows = [np.zeros((0, self._network.outputs), np.float32)]
        for start in range(0, end, steps):
            chunk = windows[start : start + steps]
            filled = np.zeros(self._network.input_shape, np.float32)
            filled.reshape(steps, -1)[: len(chunk)] = chunk
            posteriors, c, h = _run(interpreter, [filled, c, h])
            if posteriors.shape != (steps, self._network.outputs):
                raise GraphError("computes posteriors of another shape than it declares")
            rows.append(posteriors[: len(chunk)])
        return np.concatenate(rows), LiteRTState(c, h, windows[end:])

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._interpreter = None


def _loaded(content: bytes) -> Any:
    """Return LiteRT's interpreter of a file; raise GraphError if LiteRT cannot run the file."""
    with without_tensorflows_lines():
        try:
            interpreter = Interpreter(model_content=content, num_threads=1)
            interpreter.allocate_tensors()
        except (RuntimeError, ValueError) as error:
            interpreter, reason = None, _reason(error)
    if interpreter is None:
        raise GraphError(reason)
    return interpreter


def _run(interpreter: Any, inputs: Sequence[Array]) -> list[Array]:
    """Return copies of the outputs, in the order of `OUTPUTS`, for inputs in the order of `INPUTS`."""
    try:
        for details, value in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(details["index"], value)
        interpreter.invoke()
    except (RuntimeError, ValueError) as error:
        raise GraphError(_reason(error)) from None
    outputs = [interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()]
    if not all(np.isfinite(value).all() for value in outputs):
        raise GraphError("computes numbers that are not finite")
    return outputs


def _reason(error: Exception) -> str:
    return f"cannot be run by LiteRT ({' '.join(str(error).split())})"
