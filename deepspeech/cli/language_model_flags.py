"""The flags of the language model and the search, for every program that has them. Imports no flag library."""

from pathlib import Path
from typing import Any

from ..errors import FlagError
from ..options import LanguageModelOptions

_DEFAULT = LanguageModelOptions()

LANGUAGE_MODEL_FLAGS: tuple[tuple[str, str | int | float, str], ...] = (
    ("lm_binary_path", "", "KenLM language model, binary or ARPA"),
    ("lm_trie_path", "", "trie of the language model's words; made in memory if not given"),
    ("scorer_path", "", "DeepSpeech scorer package (.scorer), in place of lm_binary_path"),
    ("beam_width", _DEFAULT.beam_width, "hypotheses kept by the beam search"),
    ("lm_weight", _DEFAULT.lm_weight, "weight of the language model; a scorer package has its own"),
    (
        "valid_word_count_weight",
        _DEFAULT.valid_word_count_weight,
        "bonus for each word of the vocabulary; a scorer package has its own",
    ),
)
"""Name, default, whose type is the flag's, and meaning."""

WEIGHT_FLAGS = ("lm_weight", "valid_word_count_weight")


def check_language_model(values: Any) -> None:
    """Raise FlagError, naming the flag, for files that do not go together."""
    if values.scorer_path and (values.lm_binary_path or values.lm_trie_path):
        raise FlagError("--scorer_path: cannot be combined with --lm_binary_path or --lm_trie_path; give one of them")
    if values.lm_trie_path and not values.lm_binary_path:
        raise FlagError("--lm_trie_path: needs --lm_binary_path, the language model that the trie belongs to")


def language_model_options(values: Any, *, weights_chosen: bool) -> LanguageModelOptions:
    """The flags' values, as attributes of `values`; `weights_chosen` if one of `WEIGHT_FLAGS` was given."""
    return LanguageModelOptions(
        binary_path=_optional_path(values.lm_binary_path),
        trie_path=_optional_path(values.lm_trie_path),
        scorer_path=_optional_path(values.scorer_path),
        beam_width=values.beam_width,
        lm_weight=values.lm_weight,
        valid_word_count_weight=values.valid_word_count_weight,
        weights_chosen=weights_chosen,
    )


def _optional_path(text: str) -> Path | None:
    return Path(text) if text else None
