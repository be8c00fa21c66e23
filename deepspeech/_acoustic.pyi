"""The acoustic model's kernels, as native_client/acoustic/binding.cc offers them; use `deepspeech.serving.engine`."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

class Dense:
    def __init__(self, weights: Floats, bias: Floats) -> None: ...
    def run(self, inputs: Floats, low: float, high: float, threads: int) -> Floats: ...

class Int8Dense:
    def __init__(
        self, weights: npt.NDArray[np.int8], scales: Floats, sums: npt.NDArray[np.int32], rows: int, bias: Floats
    ) -> None: ...
    def run(self, inputs: Floats, low: float, high: float, threads: int) -> Floats: ...

class Recurrence:
    def __init__(self, weights: npt.NDArray[np.int16], scales: Floats) -> None: ...
    def run(
        self, gates: Floats, lengths: Sequence[int], cells: Floats, states: Floats, threads: int
    ) -> tuple[Floats, Floats, Floats]: ...

class Int8Recurrence:
    def __init__(
        self, weights: npt.NDArray[np.int8], scales: Floats, sums: npt.NDArray[np.int32], rows: int
    ) -> None: ...
    def run(
        self, gates: Floats, lengths: Sequence[int], cells: Floats, states: Floats, threads: int
    ) -> tuple[Floats, Floats, Floats]: ...

def has_int8_products() -> bool: ...
