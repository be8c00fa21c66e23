"""Fixtures for all tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import hypothesis
import pytest
from corpora import TinyCorpus, write_tiny_corpus
from made_once import made_once
from program import Program, Trained, train_tiny_model

pytest_plugins = ["serving_fixtures", "browser_fixture", "library_fixture"]

# Machines are busy, and what is tried follows from the test alone: what fails in one run fails in the next.
hypothesis.settings.register_profile("patient", deadline=None, derandomize=True)
hypothesis.settings.register_profile("searching", deadline=None)
hypothesis.settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option --gpu."""
    parser.addoption(
        "--gpu", action="store_true", help="let the tests see the GPUs, for those of tests/network/test_gpu.py"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Hide GPUs, as results are those of the processor, and ask no proxy for the servers that tests start."""
    if not config.getoption("--gpu"):
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "localhost,127.0.0.1,::1"


@pytest.fixture(scope="session")
def tiny_corpus(tmp_path_factory: pytest.TempPathFactory) -> TinyCorpus:
    """Return a corpus of tones, written once; tests must not change its files."""
    return TinyCorpus.of(made_once(tmp_path_factory, "tiny corpus", write_tiny_corpus))


@pytest.fixture
def program(tiny_corpus: TinyCorpus, tmp_path: Path) -> Program:
    """Return the command line over the tiny corpus, with folders of its own."""
    return Program(tiny_corpus, tmp_path)


@pytest.fixture(scope="session")
def untouched(tiny_corpus: TinyCorpus, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Return a tiny model, trained once for all test processes; only fixtures use it, and none writes its folders."""
    return Trained.of(tiny_corpus, made_once(tmp_path_factory, "untouched", partial(train_tiny_model, tiny_corpus)))


@pytest.fixture(scope="session")
def trained(untouched: Trained, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Return this test process's copy of the tiny model, of which tests may change the figures, but not the weights."""
    copy = shutil.copytree(untouched.program.folder, tmp_path_factory.mktemp("trained"), dirs_exist_ok=True)
    return Trained.of(untouched.program.corpus, copy)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of recordings and published files that lies beside some checkouts."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    return folder


@pytest.fixture(scope="session")
def demo() -> Path:
    """Return the folder that `make demo` fills: the demo's corpus, and its model; tests must not write into it."""
    folder = Path(__file__).parents[1] / "demo"
    if not (folder / "model/output_graph.pb").is_file():
        pytest.skip("no trained model of the demo in this checkout; `make demo` makes it")
    return folder


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on its own disk of four megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)
