"""A set of utterances, checked and ready to be fed in batches."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from .coordinator.jobs import SetName
from .coordinator.state import Plan
from .errors import CorpusError
from .options import Options, SetOptions
from .util.corpus import Corpus, read_corpus
from .util.feature_cache import open_feature_cache
from .util.features import FrontEnd
from .util.feeding import FeatureSource, Feeder, OnTheFly, batch_count
from .util.text import Alphabet

PREFETCH = 4
"""Batches made ready ahead."""

SHARED_PREFETCH = 1
"""The same on a cluster, where every batch taken ahead is one that another worker cannot take."""


@dataclass(frozen=True)
class DataSet:
    """A corpus, what feeds it to the model, and the plan of its batches."""

    corpus: Corpus
    feeder: Feeder
    plan: Plan


@contextmanager
def open_sets(options: Options, alphabet: Alphabet, front_end: FrontEnd) -> Iterator[dict[SetName, DataSet]]:
    """Read and check every corpus that the run needs, then make their features ready.

    Raises CorpusError for bad rows of any of them before features of the first are computed.
    """
    wanted = {
        SetName.TRAIN: options.train if options.trains else SetOptions(),
        SetName.DEV: options.dev if options.trains and options.schedule.validation_step else SetOptions(),
        SetName.TEST: options.test if options.tests else SetOptions(),
    }
    corpora = _read_corpora(
        {name: of_set for name, of_set in wanted.items() if of_set.files}, options, alphabet, front_end
    )
    with ExitStack() as stack:
        yield {name: _data_set(corpus, wanted[name], front_end, options, stack) for name, corpus in corpora.items()}


def _read_corpora(
    wanted: Mapping[SetName, SetOptions], options: Options, alphabet: Alphabet, front_end: FrontEnd
) -> dict[SetName, Corpus]:
    corpora, errors = {}, []
    for name, of_set in wanted.items():
        try:
            corpora[name] = read_corpus(
                of_set.files,
                alphabet,
                front_end,
                limit=of_set.limit,
                skip_bad_rows=options.skip_bad_rows,
                progress=options.report.show_progressbar,
            )
        except CorpusError as error:
            errors.append(error)
    if errors:
        raise CorpusError("\n".join(map(str, errors)))
    return corpora


def _data_set(corpus: Corpus, of_set: SetOptions, front_end: FrontEnd, options: Options, stack: ExitStack) -> DataSet:
    source: FeatureSource = OnTheFly(corpus, front_end)
    if of_set.cached_features_path is not None:
        source = open_feature_cache(
            of_set.cached_features_path, corpus, front_end, progress=options.report.show_progressbar
        )
        stack.callback(source.close)
    prefetch = SHARED_PREFETCH if options.cluster else PREFETCH
    feeder = Feeder(corpus, source, of_set.batch_size, prefetch=prefetch)
    plan = Plan(batch_count(len(corpus), of_set.batch_size), of_set.batch_size, _fingerprint(corpus))
    return DataSet(corpus, feeder, plan)


def _fingerprint(corpus: Corpus) -> str:
    """A digest of what the utterances are and of their order."""
    digest = hashlib.sha256()
    for utterance in corpus:
        digest.update(f"{Path(utterance.path).name}\0{utterance.samples}\0{utterance.transcript}\n".encode())
    return digest.hexdigest()
