"""Lists of utterances, and parameters, are read at addresses by all programs that take them."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import TinyCorpus
from object_store import ObjectStore
from running import assert_fails_with, run_script

from deepspeech.cli import flags
from deepspeech.errors import CorpusError, ParametersError, StorageError
from deepspeech.util.checks.bad_rows.exclusion import Exclusions
from deepspeech.util.checks.bad_rows.listing import write_list
from deepspeech.util.checks.bad_rows.ranking import RankedRow, RowFigures
from deepspeech.util.corpus import read_corpus
from deepspeech.util.corpus_files import has_transcripts
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.storage.copies import copy_of
from deepspeech.util.text import Alphabet

pytest_plugins = ["store_fixtures"]


def put(store: ObjectStore, corpus: TinyCorpus) -> str:
    """Put the test set into the store; return the address of its list."""
    folder = corpus.test.parent
    for path in (corpus.test, *folder.glob("wav/test-*")):
        store.put(f"corpus/{path.relative_to(folder)}", path.read_bytes())
    return store.address(f"corpus/{corpus.test.name}")


def test_a_list_at_an_address_is_known_by_its_columns(store: ObjectStore) -> None:
    store.put("list.csv", b"wav_filename,transcript\na.wav,a\n")
    store.put("table.csv", b"name\na.wav\n")
    store.put("none.csv", b"\xff\xff")
    listed = Path(store.address("list.csv"))
    assert has_transcripts(listed) and has_transcripts(copy_of(store.address("list.csv")))
    assert not has_transcripts(Path(store.address("table.csv")))
    with pytest.raises(CorpusError, match=f"^{store.address('none.csv')}:1: not UTF-8"):
        has_transcripts(Path(store.address("none.csv")))
    with pytest.raises(StorageError, match="there is no such file"):
        has_transcripts(Path(store.address("absent.csv")))


def test_a_list_at_an_address_is_augmented_and_its_transcripts_are_text_for_a_language_model(
    store: ObjectStore, tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    listed, to = put(store, tiny_corpus), tmp_path / "examples"
    done = run_script("augment_samples.py", listed, "--augment=speed", f"--to={to}", "--count=1", "--no_pictures")
    assert done.returncode == 0, done.stderr
    assert (to / "augmented.csv").exists()
    done = run_script("build_lm.py", listed, f"--out={tmp_path / 'lm'}", f"--tools={tmp_path}")
    assert f"{tmp_path} has no lmplz" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("text.txt", b"a\n\xff\n", ":2: not UTF-8; convert the text first"),
        ("text.txt.gz", b"\x1f\x8b\x08\0damaged", ": damaged gzip file ("),
        ("text.csv.gz", b"\x1f\x8b\x08\0damaged", ": compressed; decompress it"),
    ],
)
def test_text_at_an_address_that_cannot_be_read_is_told_by_its_address(
    store: ObjectStore, tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    for tool in ("lmplz", "filter", "build_binary"):
        (tmp_path / tool).touch()
    store.put(name, content)
    done = run_script("build_lm.py", store.address(name), f"--out={tmp_path / 'lm'}", f"--tools={tmp_path}")
    assert_fails_with(done, f"error: {store.address(name)}{told}")


def test_parameters_at_an_address_are_repeated(store: ObjectStore) -> None:
    store.put("run/params.txt", b"n_hidden : 96\n")
    store.put("run/other.txt", b"n_hiden : 96\n")
    options = flags.parse([f"--params_file={store.address('run/params.txt')}", "--train_files=a.csv"])
    assert options is not None
    assert options.model.n_hidden == 96
    with pytest.raises(ParametersError, match=f"^{store.address('run/other.txt')}: n_hiden: there is no such"):
        flags.parse([f"--params_file={store.address('run/other.txt')}"])
    with pytest.raises(StorageError, match=f"^{store.address('run/none.txt')}: there is no such file$"):
        flags.parse([f"--params_file={store.address('run/none.txt')}"])


def test_a_list_of_bad_rows_names_addresses_so_that_another_machine_leaves_them_out(
    store: ObjectStore, tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    listed, alphabet = put(store, tiny_corpus), Alphabet.load(tiny_corpus.alphabet)
    mfcc = front_end(FeatureOptions(feature_type="psf"))
    corpus = read_corpus([Path(listed)], alphabet, mfcc, progress=False)
    write_list([RankedRow(RowFigures(corpus[0], 1.0, 0.0, "a"), 1.0)], tmp_path / "bad_rows.csv")
    row = (tmp_path / "bad_rows.csv").read_text().splitlines()[1].split(",")
    assert row[0].startswith(store.address("corpus/wav/")) and row[3] == listed
    excluded = Exclusions.read([tmp_path / "bad_rows.csv"])
    assert len(read_corpus([Path(listed)], alphabet, mfcc, progress=False, excluded=excluded)) == len(corpus) - 1
