"""Scorer packages: the published DeepSpeech 0.9.3 client reads ours, and we read its packages as it does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from constant_graph import write_graph, write_silence
from exhaustive import write_arpa

from deepspeech.decoder import UTF8_BYTES, CTCDecoder, DecoderError, DecoderOptions, Scorer

LABELS = tuple(" abcdefghijklmnopqrstuvwxyz'")
SHARED = Path(__file__).resolve().parents[3] / "shared"
CLIENT = SHARED / "tools/published_client.py"
THEIRS = SHARED / "compat/pruned_lm.scorer"
WEIGHTS = (0.75, 1.85)


def run_client(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, CLIENT, *arguments], capture_output=True, text=True)


@pytest.fixture(scope="module")
def client() -> None:
    if not CLIENT.exists():
        pytest.skip(f"{CLIENT} is not there")
    result = run_client("--model", "/missing", "--audio", "/missing")
    if "refused the model" not in result.stderr:
        pytest.skip(f"the published client cannot be had: {result.stderr.strip().splitlines()[-1]}")


@pytest.fixture(scope="module")
def posteriors(tmp_path_factory: pytest.TempPathFactory) -> list[npt.NDArray[np.float32]]:
    out = tmp_path_factory.mktemp("posteriors") / "posteriors"
    script = SHARED / "tools/make_posteriors.py"
    subprocess.run([sys.executable, script, SHARED / "decoder/sentences.txt", out, "--count", "2"], check=True)
    with np.load(f"{out}.npz") as archive:
        return [archive[name] for name in archive.files]


def text_of_client(
    folder: Path, posteriors: npt.NDArray[np.float32], labels: Sequence[str | bytes], package: Path
) -> str:
    write_graph(folder / "graph.pb", posteriors, labels)
    write_silence(folder / "silence.wav", len(posteriors))
    result = run_client("--model", folder / "graph.pb", "--audio", folder / "silence.wav", "--scorer", package)
    assert result.returncode == 0, result.stderr
    return str(json.loads(result.stdout)["text"])


def our_text(posteriors: npt.NDArray[np.float32], labels: Sequence[str | bytes], scorer: Scorer) -> str:
    assert scorer.package_defaults is not None
    return CTCDecoder(labels, DecoderOptions(500, *scorer.package_defaults), scorer).decode(posteriors)[0].text


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_their_package_gives_their_words_in_ours(tmp_path: Path, posteriors: list[npt.NDArray[np.float32]]) -> None:
    scorer = Scorer.load(LABELS, THEIRS)
    for utterance in posteriors:
        assert our_text(utterance, LABELS, scorer) == text_of_client(tmp_path, utterance, LABELS, THEIRS)


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_our_package_of_words_is_accepted_by_the_published_client(
    tmp_path: Path, posteriors: list[npt.NDArray[np.float32]]
) -> None:
    package = tmp_path / "ours.scorer"
    Scorer.load(LABELS, THEIRS).write_package(package, *WEIGHTS)
    text = text_of_client(tmp_path, posteriors[0], LABELS, package)
    assert len(text.split()) > 5
    assert our_text(posteriors[0], LABELS, Scorer.load(LABELS, package)) == text


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_our_package_of_characters_is_accepted_by_the_published_client(tmp_path: Path) -> None:
    text = "語言模型識別聲音"
    write_arpa(tmp_path / "lm.arpa", sorted(set(text)), np.random.default_rng(0))
    scorer = Scorer.load(UTF8_BYTES, tmp_path / "lm.arpa", characters=True)
    scorer.write_package(tmp_path / "ours.scorer", *WEIGHTS)
    spelled = np.full((2 * len(text.encode()), 256), 0.5 / 255, np.float32)
    spelled[::2, 255] = 0.5
    spelled[np.arange(1, len(spelled), 2), [byte - 1 for byte in text.encode()]] = 0.5
    spelled /= spelled.sum(axis=1, keepdims=True)
    assert text_of_client(tmp_path, spelled, UTF8_BYTES, tmp_path / "ours.scorer") == text
    assert our_text(spelled, UTF8_BYTES, Scorer.load(UTF8_BYTES, tmp_path / "ours.scorer")) == text


@pytest.mark.skipif(not THEIRS.exists(), reason=f"{THEIRS} is not there")
def test_their_package_is_written_again_without_a_loss(tmp_path: Path) -> None:
    theirs = Scorer.load(LABELS, THEIRS)
    assert theirs.package_defaults == pytest.approx(WEIGHTS)
    theirs.write_package(tmp_path / "again.scorer", *WEIGHTS)
    theirs.write_trie(tmp_path / "theirs.trie")
    Scorer.load(LABELS, tmp_path / "again.scorer").write_trie(tmp_path / "again.trie")
    assert (tmp_path / "again.trie").read_bytes() == (tmp_path / "theirs.trie").read_bytes()
    assert (tmp_path / "again.scorer").stat().st_size == THEIRS.stat().st_size


@pytest.mark.skipif(not THEIRS.exists(), reason=f"{THEIRS} is not there")
@pytest.mark.parametrize("labels", [LABELS[::-1], LABELS[:20], (" ", *LABELS[:0:-1])])
def test_a_package_of_another_alphabet_is_refused(labels: tuple[str, ...]) -> None:
    with pytest.raises(DecoderError, match=r"pruned_lm\.scorer cannot be used as a scorer package: it"):
        Scorer.load(labels, THEIRS)


def test_a_package_is_made_of_an_arpa_file_too(tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", ["a", "b", "ab"], np.random.default_rng(0))
    Scorer.load(LABELS, tmp_path / "lm.arpa").write_package(tmp_path / "lm.scorer", 1.0, 2.0)
    posteriors = np.random.default_rng(1).dirichlet(np.full(29, 0.3), 20)
    texts = [
        CTCDecoder(LABELS, None, Scorer.load(LABELS, tmp_path / name)).decode(posteriors)[0].text
        for name in ("lm.arpa", "lm.scorer")
    ]
    assert texts[0] == texts[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lm.arpa", "lm.scorer"]


def test_a_binary_without_words_asks_for_its_trie(tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", ["a", "b"], np.random.default_rng(0))
    scorer = Scorer.load(LABELS, tmp_path / "lm.arpa")
    scorer.write_package(tmp_path / "lm.scorer", 1.0, 2.0)
    content = (tmp_path / "lm.scorer").read_bytes()
    (tmp_path / "lm.binary").write_bytes(content[: content.index(b"EIRT\x06")])
    with pytest.raises(DecoderError, match=r"lm\.binary has no vocabulary"):
        Scorer.load(LABELS, tmp_path / "lm.binary")
    scorer.write_trie(tmp_path / "lm.trie")
    with pytest.raises(DecoderError, match="made for another language model"):  # its words have other numbers
        Scorer.load(LABELS, tmp_path / "lm.binary", tmp_path / "lm.trie")
    Scorer.load(LABELS, tmp_path / "lm.scorer").write_trie(tmp_path / "lm.trie")
    assert Scorer.load(LABELS, tmp_path / "lm.binary", tmp_path / "lm.trie").package_defaults is None
