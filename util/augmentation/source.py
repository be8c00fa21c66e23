"""The augmented features of a corpus, computed on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..audio import Samples
from ..corpus import Corpus
from ..features import Features, FrontEnd
from ..feeding import FeatureSource, OnTheFly
from ..text import outputs_needed
from .augmentation import Augmentation, Domain, Occasion
from .kinds.noise import MOST_VOICES
from .recordings import Recording, Recordings
from .spectrogram import hop, samples_of, spectrogram

Struck = Sequence[tuple[Augmentation, Occasion]]
"""The augmentations that change an utterance in an epoch, each with its inputs."""


@dataclass(frozen=True)
class AugmentationPlan:
    """Augmentations, in the order of application within each domain, and the seed of their random numbers."""

    augmentations: tuple[Augmentation, ...]
    seed: int
    epochs: int
    """Epochs in which ranges move from their start to their end; 0: all are at their end."""

    def clock(self, epoch: int) -> float:
        """Return the progress of training in an epoch, counted from 0: 0 in the first epoch and 1 in the last."""
        last = self.epochs - 1
        return min(1.0, epoch / last) if last > 0 else float(self.epochs <= 0)

    def random(self, epoch: int, index: int, place: int) -> np.random.Generator:
        """Return the random numbers of the augmentation at a place of the plan, for an utterance in an epoch.

        They depend on nothing else, so they are the same on every machine and thread, and after a restart.
        """
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(epoch, index, place)))


class Augmented:
    """Augmented features of a corpus. Another source supplies the features of utterances with unchanged samples."""

    def __init__(
        self,
        corpus: Corpus,
        front_end: FrontEnd,
        unchanged: FeatureSource,
        plan: AugmentationPlan,
        output_count: Callable[[int], int] = int,
        sources: Mapping[str, tuple[Recording, ...]] | None = None,
    ) -> None:
        """Take the features of unchanged samples from `unchanged`, such as a cache.

        `output_count` returns how many outputs, for CTC's loss, a network makes of a number of frames.
        `sources` are the checked recordings of the plan's sources.
        """
        self._output_count = output_count
        self._corpus = corpus
        self._front_end = front_end
        self._unchanged = unchanged
        self._plan = plan
        self._recorded = OnTheFly(corpus, front_end)
        options = front_end.options
        self._recordings = Recordings(options.sample_rate, sources)
        self._voices = _at_hand(corpus, MOST_VOICES)
        self._rates = {
            Domain.SIGNAL: float(options.sample_rate),
            Domain.SPECTROGRAM: options.sample_rate / hop(options.sample_rate),
            Domain.FEATURES: 1000 / options.step_ms,
        }

    def features(self, index: int, epoch: int = 0) -> Features:
        """Return utterance `index`'s features in an epoch, float32 [frames, coefficients].

        Raise AudioError if its recording cannot be read, AugmentationError if one to mix in cannot be read, and the
        errors of `unchanged`.
        """
        struck = self._struck(index, epoch)
        of_samples = [each for each in struck if each[0].domain != Domain.FEATURES]
        if of_samples:
            samples = self._changed(self._utterance(index), of_samples, index)
            features = self._front_end.extract(samples)
        else:
            features = self._unchanged.features(index, epoch)
        for augmentation, occasion in struck:
            if augmentation.domain == Domain.FEATURES:
                features = augmentation.augment(features, occasion)
        return np.ascontiguousarray(features, np.float32)

    def samples(self, index: int, epoch: int = 0) -> Samples:
        """Return utterance `index`'s samples in an epoch, float32 [samples] in [-1, 1]. Raise AudioError."""
        of_samples = [each for each in self._struck(index, epoch) if each[0].domain != Domain.FEATURES]
        return self._changed(self._utterance(index), of_samples, index)

    def _struck(self, index: int, epoch: int) -> Struck:
        clock = self._plan.clock(epoch)
        struck = []
        for place, augmentation in enumerate(self._plan.augmentations):
            random = self._plan.random(epoch, index, place)
            if random.random() < augmentation.p:
                struck.append((augmentation, self._occasion(random, clock)))
        return struck

    def _occasion(self, random: np.random.Generator, clock: float) -> Occasion:
        rate = self._front_end.options.sample_rate
        return Occasion(random, clock, rate, self._rates, self._voices, self._utterance, self._recordings)

    def _utterance(self, index: int) -> Samples:
        return self._recordings.decoded(index, lambda: self._recorded.samples(index))

    def _changed(self, samples: Samples, struck: Struck, index: int) -> Samples:
        """Return augmented samples; skip a change that would leave none, or fewer outputs than CTC needs."""
        needed = outputs_needed(self._corpus[index].labels)
        for augmentation, occasion in struck:
            if augmentation.domain == Domain.SIGNAL:
                changed = augmentation.augment(samples, occasion)
                if len(changed) and self._output_count(self._front_end.frame_count(len(changed))) >= needed:
                    samples = changed
        of_spectrogram = [each for each in struck if each[0].domain == Domain.SPECTROGRAM]
        if of_spectrogram:
            rate = self._front_end.options.sample_rate
            transformed = spectrogram(samples, rate)
            for augmentation, occasion in of_spectrogram:
                transformed = augmentation.augment(transformed, occasion)
            samples = samples_of(transformed, len(samples), rate)
        return np.clip(samples, -1, 1).astype(np.float32, copy=False)


def _at_hand(corpus: Corpus, wanted: int) -> int:
    """Return the size of the fewest first windows that have the `wanted` number of utterances, or of all windows."""
    return next((start for start in corpus.windows if start >= wanted), len(corpus))
