"""LiteRT files, used as clients use them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")

Array = npt.NDArray[np.float32]


class Interpreter:
    """A file that LiteRT runs."""

    def __init__(self, content: bytes) -> None:
        self._interpreter = litert.Interpreter(model_content=content)
        self._interpreter.allocate_tensors()
        self.inputs = {each["name"]: each for each in self._interpreter.get_input_details()}
        self.outputs = {each["name"]: each for each in self._interpreter.get_output_details()}

    def run(self, **inputs: Array) -> dict[str, Any]:
        for name, value in inputs.items():
            self._interpreter.set_tensor(self.inputs[name]["index"], value)
        self._interpreter.invoke()
        return {name: self._interpreter.get_tensor(each["index"]) for name, each in self.outputs.items()}

    def posteriors(self, windows: Array) -> Array:
        """Return the posteriors [time, labels + 1] of windows [time, n_input], as the clients compute them."""
        shape = self.inputs["input_node"]["shape"]
        state = [np.zeros(self.inputs[f"previous_state_{part}"]["shape"], np.float32) for part in "ch"]
        rows = []
        for start in range(0, len(windows), shape[1]):
            chunk = windows[start : start + shape[1]]
            padded = np.zeros(shape, np.float32)
            padded.reshape(shape[1], -1)[: len(chunk)] = chunk
            outputs = self.run(input_node=padded, previous_state_c=state[0], previous_state_h=state[1])
            state = [outputs["new_state_c"], outputs["new_state_h"]]
            rows.append(outputs["logits"][: len(chunk)])
        return np.concatenate(rows)
