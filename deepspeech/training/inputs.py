"""The inputs of a run, read and checked before any slow work, such as the import of TensorFlow."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from ..checkpoints.flag_check import check_flags
from ..checkpoints.folder_reading import resumes
from ..checkpoints.identity import ModelIdentity
from ..checkpoints.weights.described import alphabet_to_begin_with
from ..decoder import CTCDecoder
from ..decoder.of_alphabet import make_decoder
from ..decoder.references import with_references
from ..errors import CorpusError, FeatureCacheError, FlagError, ImportingError
from ..options import Options, SetOptions
from ..options.experiment import CorpusImport
from ..schedule.jobs import SetName
from ..util.augmentation.checked_sources import checked_sources
from ..util.augmentation.recordings import Recording
from ..util.checks.bad_rows.exclusion import Exclusions
from ..util.checks.checked_recordings import users_file
from ..util.checks.overlap import overlap
from ..util.corpus import Corpus, Utterance, read_corpus
from ..util.corpus_files import files_of
from ..util.features import front_end
from ..util.files.writable import why_not_writable
from ..util.importing import check_known, import_corpus, is_imported
from ..util.importing.alphabet import make_alphabet
from ..util.progress import report
from ..util.text import Alphabet
from ..util.transcripts import Normalizer

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Inputs:
    """The alphabet, a decoder with the language model, and the recordings that the run needs."""

    alphabet: Alphabet
    decoder: CTCDecoder
    corpora: Mapping[SetName, Corpus]
    """The corpora of the sets."""
    sources: Mapping[str, tuple[Recording, ...]]
    """The recordings of augmentations."""


def read_inputs(options: Options) -> Inputs:
    """Read and check the inputs; import the experiment's corpus, if there is one, after all other checks.

    If the corpus's own alphabet does not exist yet, it is made and checked after the import. Raise a DeepSpeechError; a
    single CorpusError reports the bad rows of all corpora.
    """
    _check_writable(options)
    _check_later_inputs(options)
    normalizer = options.transcripts.normalizer
    reading = None if _makes_alphabet(options) else _read_alphabet(options)
    _import(options)
    if reading is None:
        _make_alphabet(options, normalizer)
        reading = _read_alphabet(options)
    alphabet, decoder = reading
    sources = _check_sources(options)
    corpora = _read_corpora(options, alphabet, normalizer)
    referenced = {name: with_references(corpus, alphabet, decoder) for name, corpus in corpora.items()}
    return Inputs(alphabet, decoder, referenced, sources)


def options_of_set(options: Options, name: SetName) -> SetOptions:
    """Return the options of a set; without files if the run does not need the set."""
    needed = {
        SetName.TRAIN: options.train if options.trains else None,
        SetName.DEV: options.dev if options.trains and options.schedule.validation_step else None,
        SetName.TEST: options.test if options.tests else None,
    }
    return needed[name] or SetOptions()


def _read_alphabet(options: Options) -> tuple[Alphabet, CTCDecoder]:
    """Return the alphabet and a decoder for it, after a check that the flags fit the alphabet."""
    alphabet = options.load_alphabet()
    _check_flags(options, alphabet)
    return alphabet, make_decoder(alphabet, options.language_model)


def _import(options: Options) -> None:
    """Import the corpora that the run needs, if any; raise ImportingError if one lacks a set that the run needs."""
    imports = [each for each in options.experiment.imports() if _needs(options, each)]
    for each in imports:
        check_known(each.corpus)  # before the first import, which may take long
    for each in imports:
        download = each.source is None and not is_imported(each.folder)
        if download:
            _report_sets(options, each)
        import_corpus(each.corpus, each.folder, each.source, choices=replace(each.choices, download=download))
        _check_sets(options, each.folder)


def _needs(options: Options, corpus: CorpusImport) -> bool:
    """Return whether a flag asks for the import of a corpus, or the run reads a file of it."""
    asked = options.experiment
    if corpus.source or asked.split or asked.speakers or asked.tiers:
        return True
    of_run = [options_of_set(options, name) for name in SetName]
    of_labels = [options.train, options.dev, options.test] if _makes_alphabet(options) else []
    model = options.language_model
    lists = [path for each in (*of_run, *of_labels) for path in each.files]
    read = [path for path in (*lists, model.binary_path, model.trie_path, model.scorer_path) if path]
    return any(path.resolve().is_relative_to(corpus.folder.resolve()) for path in read)


def _report_sets(options: Options, corpus: CorpusImport) -> None:
    """Report which sets a corpus is downloaded for, if the others are lists of the user's."""
    folders = [each.folder for each in options.experiment.imports()]
    has_others = any(path.parent not in folders for name in SetName for path in options_of_set(options, name).files)
    flags = " and ".join(f"--{name.value}_files" for name, lists in _lists_in(corpus.folder, options).items() if lists)
    if flags and has_others:
        report(f"{corpus.corpus} is imported for {flags}: give another list, or an empty one (--test_files=)")


def _check_sets(options: Options, folder: Path) -> None:
    lacking = [name for name, lists in _lists_in(folder, options).items() if not all(path.exists() for path in lists)]
    if SetName.TRAIN in lacking:
        raise ImportingError(
            f"{folder} has no train set: all recordings are in other sets, by the corpus's own names, because lists of "
            "other sets have them, too, or by --split; divide them again with --split=90:5:5"
        )
    if lacking:
        without = {SetName.DEV: "--validation_step=0 --dev_files= --best_by=loss", SetName.TEST: "--test_files="}
        raise ImportingError(
            f"{folder} has no {' and no '.join(name.value for name in lacking)} set: there are too few recordings; add "
            f"some, or train without: {' '.join(without[name] for name in lacking)}"
        )


def _lists_in(folder: Path, options: Options) -> dict[SetName, list[Path]]:
    """Return which lists in the folder of an imported corpus the run needs."""
    return {name: [path for path in options_of_set(options, name).files if path.parent == folder] for name in SetName}


def _makes_alphabet(options: Options) -> bool:
    path = options.alphabet_path
    return path is not None and path == options.experiment.own_alphabet and not path.exists()


def _make_alphabet(options: Options, normalizer: Normalizer | None) -> None:
    training = options.train.files if options.trains else _those_there(options.train.files)
    others = [_those_there(files) for files in (options.dev.files, options.test.files)]
    assert options.alphabet_path is not None
    begins = options.trains and not resumes(options.checkpoints)
    known = alphabet_to_begin_with(options.checkpoints) if begins else None
    make_alphabet(options.alphabet.unit, training, others, options.alphabet_path, normalizer, report, known)


def _those_there(lists: Sequence[Path]) -> list[Path]:
    """Return the lists that exist: an import leaves out sets if it has too few recordings."""
    return [path for path in lists if any(file.exists() for file in files_of(path))]


def _check_later_inputs(options: Options) -> None:
    """Raise FlagError for a missing file that is read later; files that an import writes need not exist yet."""
    work = options.experiment.work
    later: dict[str, Path | None] = {}
    if options.leads and not resumes(options.checkpoints):
        later["initialize_from_frozen_model"] = options.checkpoints.initial_graph
        later["initialize_from_weights"] = options.checkpoints.initial_weights
    if options.leads:
        later["one_shot_infer"] = options.one_shot_infer
    if _makes_alphabet(options):
        later["lm_binary_path"] = options.language_model.binary_path
        later["scorer_path"] = options.language_model.scorer_path
    for flag, path in later.items():
        imported = path and work and path.resolve().is_relative_to(work.resolve())
        if path and not imported and not path.exists():
            raise FlagError(f"--{flag}={path}: there is no such file")
    if options.trains:
        options.augmentation.check(options.features.sample_rate)


def _check_writable(options: Options) -> None:
    """Raise an error now for a folder that cannot be written to; else it would come only after hours."""
    for name in SetName:
        cache = options_of_set(options, name).cached_features_path
        reason = why_not_writable(cache.parent) if cache is not None and not cache.exists() else ""
        if reason:
            raise FeatureCacheError(f"--{name.value}_cached_features_path={cache}: {reason}; name another file")
    trains = options.trains and options.leads
    folders = {
        "checkpoint_dir": options.checkpoints.directory if trains else None,
        "summary_dir": options.summaries.directory if trains and options.summaries.seconds else None,
    }
    for flag, folder in folders.items():
        reason = why_not_writable(folder) if folder else ""
        if reason:
            raise FlagError(f"--{flag}={folder}: {reason}; choose another folder")


def _check_flags(options: Options, alphabet: Alphabet) -> None:
    if options.leads:
        identity = ModelIdentity(alphabet, options.features, options.model)
        check_flags(options.checkpoints, identity, trains=options.trains)


def _check_sources(options: Options) -> Mapping[str, tuple[Recording, ...]]:
    return checked_sources(
        options.augmentation.augmentations if options.trains else (),
        skip_bad=options.bad_rows.skip,
        progress=options.report.show_progressbar,
        remembered=users_file(),
    )


def _read_corpora(options: Options, alphabet: Alphabet, normalizer: Normalizer | None) -> dict[SetName, Corpus]:
    features = front_end(options.features)
    excluded = Exclusions.read(options.excluded.files) if options.excluded.files else None
    network = ModelIdentity(alphabet, options.features, options.model).network
    corpora, errors = {}, []
    for name in SetName:
        of_set = options_of_set(options, name)
        if not of_set.files:
            continue
        try:
            corpora[name] = read_corpus(
                of_set.files,
                alphabet,
                features,
                limit=of_set.limit,
                skip_bad_rows=options.bad_rows.skip,
                progress=options.report.show_progressbar,
                remembered=users_file(),
                normalizer=normalizer,
                excluded=excluded if name is SetName.TRAIN else None,
                frames_per_row=network.time_reduction,
                shards_mixed=options.batches.shard_window,
            )
        except CorpusError as error:
            errors.append(error)
    if errors:
        raise CorpusError("\n".join(map(str, errors)))
    _warn_of_overlaps(corpora)
    _warn_of_one_transcript(corpora.get(SetName.TRAIN, ()))
    return corpora


def _warn_of_overlaps(corpora: Mapping[SetName, Corpus]) -> None:
    nouns = {SetName.TRAIN: "training", SetName.DEV: "validation", SetName.TEST: "test"}
    for (there, one), (here, other) in combinations(corpora.items(), 2):
        if (found := overlap(one, other)) is not None:
            logger.warning(
                "The %s set shares %s with the %s set; its figures say little about unseen recordings",
                nouns[here],
                found,
                nouns[there],
            )


def _warn_of_one_transcript(train: Sequence[Utterance]) -> None:
    transcripts = {utterance.transcript for utterance in train}
    if len(train) > 1 and len(transcripts) == 1:
        logger.warning(
            "All %d transcripts of the training set are %r; the network learns to write this for any recording",
            len(train),
            *transcripts,
        )
