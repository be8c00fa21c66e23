"""Fixtures of the serving tests."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from corpora import TinyCorpus
from made_once import made_once
from program import Trained

from deepspeech import Model


@pytest.fixture(scope="session")
def exported(untouched: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the tiny model's export; tests must not write into it."""
    return export_once(untouched, tmp_path_factory, "exported", "--export_version=3")


@pytest.fixture(scope="session")
def graph_file(exported: Path) -> Path:
    """Return the tiny model's graph; tests must not change it."""
    return exported / "output_graph.pb"


@pytest.fixture(scope="session")
def scorer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a language model of all words of up to three of the tiny corpus's letters, alike in probability."""
    words = ["".join(letters) for length in (1, 2, 3) for letters in product("abcde", repeat=length)]
    path = tmp_path_factory.mktemp("scorer") / "words.arpa"
    unigrams = ["-99\t<s>\t0", "-1\t</s>", "-3\t<unk>", *(f"-2.2\t{word}\t0" for word in words)]
    counts = [f"ngram 1={len(unigrams)}", "ngram 2=1"]
    lines = ["\\data\\", *counts, "", "\\1-grams:", *unigrams, "", "\\2-grams:", "-2.1\t<s> a", "", "\\end\\", ""]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="session")
def model(graph_file: Path) -> Model:
    """Return the tiny model, loaded; tests must not change its settings."""
    return Model(graph_file)


@pytest.fixture(scope="session")
def recordings(tiny_corpus: TinyCorpus) -> list[Path]:
    """Return the recordings of the tiny corpus's test set."""
    return sorted((tiny_corpus.test.parent / "wav").glob("test-*.wav"))


@pytest.fixture(scope="session")
def tflite_file(untouched: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the tiny model for LiteRT; tests must not change it."""
    folder = export_once(untouched, tmp_path_factory, "tflite", "--export_format=tflite")
    assert {path.name for path in folder.iterdir()} == {"output_graph.tflite", "model.md"}
    return folder / "output_graph.tflite"


def export_once(untouched: Trained, factory: pytest.TempPathFactory, name: str, flag: str) -> Path:
    """Return the folder of an export of the tiny model with one more flag, which all test processes share."""

    def export(folder: Path) -> None:
        flags = [f"--export_dir={folder / 'model'}", flag, "--export_language=xx", "--export_beam_width=32"]
        finished = untouched.program.run(*untouched.program.model(), *flags)
        assert finished.code == 0, finished.stderr
        assert "lowest validation loss" in finished.stderr

    return made_once(factory, name, export) / "model"
