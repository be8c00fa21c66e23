"""A set of utterances, ready to be fed in batches."""

import hashlib
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from ..checkpoints.identity import ModelIdentity
from ..options import Options
from ..schedule.jobs import SetName
from ..schedule.state import Plan
from ..util.augmentation.source import AugmentationPlan, Augmented
from ..util.batching.batches import Batches, Batching
from ..util.batching.lengths import longest_of_batch
from ..util.corpus import Corpus
from ..util.feature_cache import open_feature_cache
from ..util.features import FrontEnd
from ..util.feeding import FeatureSource, Feeder, OnTheFly
from .inputs import Inputs, options_of_set

LEAST_PREFETCH = 4
"""Batches that are prepared ahead of the training step, if it does not take more."""


@dataclass(frozen=True)
class DataSet:
    """A corpus, its feeder to the model, the plan of its batches, and the source of its unchanged features."""

    corpus: Corpus
    feeder: Feeder
    plan: Plan
    source: FeatureSource


def plans_of(options: Options, inputs: Inputs) -> dict[SetName, Plan]:
    """Return the plans of the batches of the run's corpora, for which no recording is read."""
    plans = {}
    for name, corpus in inputs.corpora.items():
        batching = _batching(options, name)
        cut = Batches([utterance.frames for utterance in corpus], batching, corpus.windows)
        plans[name] = _plan(corpus, cut, batching)
    return plans


@contextmanager
def open_sets(
    options: Options,
    inputs: Inputs,
    front_end: FrontEnd,
    padded_length: Callable[[int], int] = longest_of_batch,
    cached: Collection[SetName] = tuple(SetName),
    towers: int = 1,
) -> Iterator[dict[SetName, DataSet]]:
    """Yield the corpora of the run as sets ready to be fed; close their feature caches at the end.

    `padded_length` is a `Feeder`'s. Only sets that are `cached` have their caches, which are built if they are missing.
    Each of the `towers` takes a batch at a time. Raise FeatureCacheError for a cache that cannot be used.
    """
    feeder = partial(
        Feeder,
        prefetch=_prefetch(options, towers),
        skip_unreadable=options.bad_rows.skip,
        stacking=options.features.stacking,
        padded_length=padded_length,
    )
    with ExitStack() as stack:
        yield {
            name: _data_set(name, inputs, front_end, options, stack, feeder, uses_cache=name in cached)
            for name in inputs.corpora
        }


def _prefetch(options: Options, towers: int) -> int:
    """Return how many batches are prepared ahead: at least those of a step.

    In a cluster, a batch that one worker prepares ahead is not available to the others.
    """
    return towers if options.in_cluster else max(LEAST_PREFETCH, towers * options.optimizer.accumulate_gradients)


def _data_set(
    name: SetName,
    inputs: Inputs,
    front_end: FrontEnd,
    options: Options,
    stack: ExitStack,
    feeder_of: Callable[..., Feeder],
    *,
    uses_cache: bool,
) -> DataSet:
    corpus, of_set = inputs.corpora[name], options_of_set(options, name)
    source: FeatureSource = OnTheFly(corpus, front_end)
    if uses_cache and of_set.cached_features_path is not None:
        source = open_feature_cache(
            of_set.cached_features_path, corpus, front_end, progress=options.report.show_progressbar
        )
        stack.callback(source.close)
    augments = name is SetName.TRAIN and options.augmentation.written
    fed = _augmented(inputs, front_end, source, options) if augments else source
    batching = _batching(options, name)
    feeder = feeder_of(corpus, fed, batching)
    return DataSet(corpus, feeder, _plan(corpus, feeder.cut, batching), source)


def _plan(corpus: Corpus, cut: Batches, batching: Batching) -> Plan:
    return Plan(cut.count, cut.largest, _fingerprint(corpus), batching.in_words, cut.starts)


def _augmented(inputs: Inputs, front_end: FrontEnd, source: FeatureSource, options: Options) -> Augmented:
    """Return the training set's augmented features, long enough for the network to make the outputs that CTC needs."""
    network = ModelIdentity(inputs.alphabet, options.features, options.model).network

    def output_count(frames: int) -> int:
        return network.rows(options.features.stacking.count(frames))

    plan = augmentation_plan(options)
    return Augmented(inputs.corpora[SetName.TRAIN], front_end, source, plan, output_count, inputs.sources)


def _batching(options: Options, name: SetName) -> Batching:
    """Return how a set is cut into batches; only in the training set may batches differ from neighbours in order."""
    size, wanted = options_of_set(options, name).batch_size, options.batches
    if name is not SetName.TRAIN:
        return Batching(size)
    return Batching(size, wanted.frames, options.random_seed if wanted.shuffled else None, wanted.ordered_epochs)


def augmentation_plan(options: Options) -> AugmentationPlan:
    """Return the augmentation of the training set; if `--epoch` adds epochs, ranges are at their ends."""
    return AugmentationPlan(options.augmentation.augmentations, options.random_seed, max(0, options.schedule.epoch))


def _fingerprint(corpus: Corpus) -> str:
    """Return a digest of the utterances (file name and part, samples, transcript) in their order."""
    digest = hashlib.sha256()
    for utterance in corpus:
        part = utterance.part.fragment if utterance.part else ""
        name = utterance.path.rpartition("/")[2]  # of a million rows: pathlib takes ten times as long
        line = f"{name}{part}\0{utterance.samples}\0{utterance.transcript}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))  # names on disk need not be UTF-8
    return digest.hexdigest()
