"""The C++ decoder, as native_client/decoder/binding.cc offers it; use `deepspeech.decoder`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy.typing as npt

Spell = Callable[[str], Sequence[Sequence[int]]]

def usable_cores() -> int: ...
def processor_limit(root: str) -> float: ...

class Labels:
    def __init__(self, texts: Sequence[str | bytes], columns: Sequence[int], column_count: int) -> None: ...

class DecoderOptions:
    beam_width: int
    lm_weight: float
    valid_word_count_weight: float
    sentence_end: bool
    cutoff_prob: float
    cutoff_top_n: int
    score_threshold: float
    result_count: int
    unknown_word_score: float
    hot_words: Mapping[str, float]

class Result:
    labels: list[int]
    frames: list[int]
    score: float
    acoustic_score: float
    lm_score: float

class Scorer:
    @overload
    def __init__(self, labels: Labels, language_model_path: bytes, characters: bool, spell: Spell | None) -> None: ...
    @overload
    def __init__(self, labels: Labels, language_model_path: bytes, trie_path: bytes, spell: Spell | None) -> None: ...
    @property
    def characters(self) -> bool: ...
    @property
    def package_defaults(self) -> tuple[float, float] | None: ...
    def can_spell(self, text: str | bytes) -> bool: ...
    def write_package(self, path: bytes, lm_weight: float, valid_word_count_weight: float) -> None: ...
    def write_trie(self, path: bytes) -> None: ...

class Decoder:
    def __init__(self, labels: Labels, options: DecoderOptions, scorer: Scorer | None) -> None: ...
    def decode(self, posteriors: npt.NDArray[Any]) -> list[Result]: ...
    def decode_batch(
        self, posteriors: npt.NDArray[Any], lengths: Sequence[int], threads: int
    ) -> list[list[Result]]: ...

class Stream:
    def __init__(self, decoder: Decoder) -> None: ...
    def feed(self, posteriors: npt.NDArray[Any]) -> None: ...
    def peek(self, count: int = 0) -> list[Result]: ...
    def finish(self, count: int = 0) -> list[Result]: ...
    @property
    def frames(self) -> int: ...
