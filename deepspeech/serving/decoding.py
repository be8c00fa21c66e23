"""The decoding settings of a model, and the decoder that they make."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..decoder import CTCDecoder, DecoderOptions, Scorer
from ..decoder.hot_words import spelled
from ..decoder.labels import Labels
from ..errors import DecoderError, ModelError
from .confidence.words import HYPOTHESES

logger = logging.getLogger(__name__)

MOST_LABELS_PER_FRAME = 40
"""The number of labels that the search considers in a frame, as in DeepSpeech's clients."""

HIGHEST_BOOST = 1e30
"""The highest boost of a hot word, as a natural logarithm."""


TellIgnored = Callable[[str], object]
"""Reports a hot word that has no effect, as it cannot be spelled."""


def log_ignored(word: str) -> None:
    """Log that a hot word has no effect."""
    logger.warning("the hot word %r is ignored: the scorer and the alphabet cannot spell it", word)


@dataclass(frozen=True)
class DecodingSettings:
    """The decoding settings of a model. They never change; to change a setting, a model takes new ones."""

    labels: Labels
    """The model's labels; a scorer may replace them by its readings of them."""
    beam_width: int
    scorer: Scorer | None = None
    weights: tuple[float, float] = (0.0, 0.0)
    """The weight of the language model, and the bonus of each word in its vocabulary."""
    hot_words: Mapping[str, float] = field(default_factory=dict)
    """Words and phrases with their boosts, including those that the scorer cannot spell, which have no effect."""

    result_count: int | None = None
    """The most hypotheses that a whole recording is decoded to; None: the beam width."""

    def with_results(self, count: int) -> DecodingSettings:
        """Return these settings for whole recordings, to get up to `count` transcripts with confidences."""
        return replace(self, result_count=min(max(count, HYPOTHESES), self.beam_width))

    def with_hot_words(
        self, hot_words: Mapping[str, float], tell_ignored: TellIgnored = log_ignored
    ) -> DecodingSettings:
        """Return these settings with other hot words. Their decoder is made when it is needed.

        `tell_ignored` gets each new word that cannot be spelled. A server must not log words that its clients choose:
        the log is the operator's. Raise ModelError without a scorer, and for anything but words with boosts.
        """
        if not isinstance(hot_words, Mapping):
            raise ModelError(f"hot_words must be a mapping of words to boosts, not {type(hot_words).__name__}")
        return replace(self, hot_words=self._checked(hot_words, tell_ignored))

    def with_hot_word(self, word: str, boost: float) -> DecodingSettings:
        """Return these settings with one more hot word; see `with_hot_words`. The others are not checked again."""
        return replace(self, hot_words={**self.hot_words, **self._checked({word: boost}, log_ignored)})

    def _checked(self, hot_words: Mapping[str, float], tell_ignored: TellIgnored) -> dict[str, float]:
        if self.scorer is None:
            raise ModelError("hot words need a scorer; enable one first")
        checked: dict[str, float] = {}
        for word, boost in hot_words.items():
            checked[word] = _checked_boost(word, boost)
            if word not in self.hot_words and spelled(word, self.scorer) is None:
                tell_ignored(word)
        return checked

    @cached_property
    def decoder(self) -> CTCDecoder:
        """The decoder with these settings. Raise ModelError, which names the setting, if one cannot be used."""
        lm_weight, valid_word_count_weight = self.weights
        try:
            options = DecoderOptions(
                beam_width=self.beam_width,
                lm_weight=lm_weight,
                valid_word_count_weight=valid_word_count_weight,
                sentence_end=False,  # as DeepSpeech's clients score
                cutoff_top_n=MOST_LABELS_PER_FRAME,
                result_count=self.result_count or max(self.beam_width, 1),
                hot_words=self._spelled_hot_words(),
            )
            return CTCDecoder(self.scorer.output if self.scorer else self.labels, options, self.scorer)
        except (DecoderError, TypeError) as error:
            raise ModelError(str(error)) from error

    def _spelled_hot_words(self) -> dict[str, float]:
        if self.scorer is None:
            return {}
        forms = {word: spelled(word, self.scorer) for word in self.hot_words}
        boosts = {form: self.hot_words[word] for word, form in forms.items() if form is not None}
        return {form: self.hot_words.get(form, boost) for form, boost in boosts.items()}


def package_weights(scorer: Scorer) -> tuple[float, float]:
    """Return the weights that a scorer package recommends, or the decoder's defaults if it recommends none."""
    default = DecoderOptions()
    return scorer.package_defaults or (default.lm_weight, default.valid_word_count_weight)


def _checked_boost(word: str, boost: float) -> float:
    try:
        if isinstance(word, str) and abs(boost) <= HIGHEST_BOOST:
            return float(boost)
    except (TypeError, ValueError):  # ValueError: of an array
        pass
    raise ModelError(
        f"the hot word {word!r} has the boost {boost!r}; give a text and a number of up to {HIGHEST_BOOST:g}"
    )
