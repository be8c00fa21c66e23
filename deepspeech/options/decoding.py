"""The language model, its weights and the beam width of the search. This module needs no decoder."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from .rows.checks import FINITE, at_least
from .rows.flag import flag, whether_given

DECODING = "Decoding"

CLIENT_BEAM_WIDTH = 500
"""The default beam width of clients, unless the exported graph holds another."""


@dataclass(frozen=True)
class LanguageModelOptions:
    """The language model, its weights and the beam width of the search."""

    title: ClassVar[str] = DECODING
    binary_path: Path | None = flag(
        None, "KenLM language model, binary or ARPA", name="lm_binary_path", aliases=("lm",)
    )
    trie_path: Path | None = flag(
        None,
        "trie of the language model's words; made in memory if not given",
        name="lm_trie_path",
        aliases=("trie",),
    )
    scorer_path: Path | None = flag(
        None, "DeepSpeech scorer package (.scorer), in place of lm_binary_path", aliases=("scorer",)
    )
    beam_width: int = flag(1024, "hypotheses kept by the beam search", check=at_least(1))
    lm_weight: float = flag(
        1.5, "weight of the language model; a scorer package has its own", check=FINITE, aliases=("lm_alpha",)
    )
    valid_word_count_weight: float = flag(
        2.25,
        "bonus for each word that is in the vocabulary; a scorer package has its own",
        check=FINITE,
        aliases=("lm_beta",),
    )
    weights_given: bool = whether_given("lm_weight", "valid_word_count_weight", name="lm_weights_given")

    @property
    def notices(self) -> tuple[str, ...]:
        """A line if flags are given that have no effect."""
        if not self.weights_given or self.binary_path or self.scorer_path:
            return ()
        return (
            "--lm_weight, --valid_word_count_weight: have no effect without a language model; "
            "give one with --lm_binary_path or --scorer_path",
        )

    @property
    def weights_chosen(self) -> bool:
        """Whether these weights replace a scorer package's own."""
        defaults = (LanguageModelOptions.lm_weight, LanguageModelOptions.valid_word_count_weight)
        return self.weights_given or (self.lm_weight, self.valid_word_count_weight) != defaults
