"""The statistics that normalize features: of the training set, computed once and stored in the checkpoints."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...network.layers.normalization import DEVIATION, MEAN, statistics_names
from ...schedule.jobs import SetName
from ...util.errors import DeepSpeechError, StorageError, TrainingError
from ...util.features import FeatureOptions, Features
from ...util.feeding import UNREADABLE
from ...util.frames.normalization import FeatureStatistics
from ...util.parallel import ordered_map, usable_cores
from ..data_set import DataSet

logger = logging.getLogger(__name__)

SAMPLE_HOURS = 5.0
"""Hours of speech that are enough; from a longer training set, utterances of all lengths are sampled evenly."""


def fill_in_statistics(
    session: Any, graph: Any, features: FeatureOptions, sets: Mapping[SetName, DataSet], *, skip_unreadable: bool
) -> None:
    """Set the graph's statistics, unless a checkpoint or another model has set them.

    They are computed from the training set; without one, a checkpoint that is loaded later has them. The same set gives
    the same numbers. Raise AudioError or FeatureCacheError for an utterance that cannot be read, unless those are left
    out and others remain, or StorageError.
    """
    names = statistics_names(features)
    if not names or SetName.TRAIN not in sets:
        return
    by_name = {variable.op.name: variable for variable in graph.get_collection("variables")}
    deviation = session.run(by_name[DEVIATION])
    if deviation.any():
        return
    statistics = _computed(sets[SetName.TRAIN], skip_unreadable)
    by_name[MEAN].load(statistics.mean, session)
    by_name[DEVIATION].load(statistics.deviation, session)


def sample(lengths: Sequence[int], wanted: float) -> list[int]:
    """Return evenly spaced indices of utterances that have about `wanted` samples in all."""
    share = min(1.0, wanted / max(sum(lengths), 1))
    count = max(1, round(share * len(lengths)))
    return sorted({int(index) for index in np.linspace(0, len(lengths) - 1, count).round()})


def _computed(training: DataSet, skip_unreadable: bool) -> FeatureStatistics:
    corpus = training.corpus
    lengths = [utterance.samples for utterance in corpus]
    indices = sample(lengths, SAMPLE_HOURS * 3600 * corpus.sample_rate)
    hours = sum(lengths[index] for index in indices) / corpus.sample_rate / 3600
    logger.info("Computing the statistics of features from %d utterances, %.2f hours", len(indices), hours)

    unreadable: list[DeepSpeechError] = []

    def features_of(index: int) -> Features | None:
        try:
            return training.source.features(index)
        except UNREADABLE as error:
            if isinstance(error, StorageError) or not skip_unreadable:
                raise
            unreadable.append(error)
            return None

    def readable() -> Iterator[Features]:
        threads = usable_cores()
        for features in ordered_map(features_of, indices, threads, ahead=8 * threads):
            if features is not None and len(features):
                yield features

    statistics = FeatureStatistics.of(readable())
    if len(unreadable) == len(indices):
        raise unreadable[-1]
    if not np.isfinite(statistics.mean).all():
        raise TrainingError("the features of the training set are not finite numbers")
    return statistics
