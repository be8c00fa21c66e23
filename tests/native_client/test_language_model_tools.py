"""bin/build_lm.py and bin/tune_lm.py, from text to files that decode."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from running import LM_TOOLS, ROOT, needs_lm_tools, run_script

from deepspeech.decoder import CTCDecoder, DecoderOptions, Scorer

LABELS = tuple(" abcdefghijklmnopqrstuvwxyz'")
TEXT = "\n".join(
    2 * f"the {colour} {thing} is on the {place}\n"
    for colour in ("red", "blue", "green", "schön")
    for thing in ("box", "ball", "book")
    for place in ("table", "floor", "shelf")
)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path / "text.txt"


@pytest.mark.parametrize("flag", ["--vocabulary=-5", "--vocabulary=0", "--lm-weight=nan", "--word-bonus=inf"])
def test_a_number_that_no_language_model_can_have_is_one_line(tmp_path: Path, text: Path, flag: str) -> None:
    result = run_script("build_lm.py", text, "--out", tmp_path / "lm", flag)
    assert result.returncode == 1
    assert re.fullmatch(f"build_lm.py: error: {flag}: must be .*\n", result.stderr)


def test_what_stops_lmplz_before_it_reads_the_text_is_told(tmp_path: Path, text: Path) -> None:
    for tool in ("filter", "build_binary"):
        (tmp_path / tool).touch()
    (tmp_path / "lmplz").write_text("#!/bin/sh\nexec 0<&-\necho wrong --prune\nexit 1\n")
    (tmp_path / "lmplz").chmod(0o755)
    text.write_text(200 * TEXT)
    result = run_script("build_lm.py", text, "--out", tmp_path / "lm", "--tools", tmp_path)
    assert result.returncode == 1
    assert result.stderr.endswith("build_lm.py: error: lmplz failed: wrong --prune\n")


def test_flags_of_transcripts_that_are_not_normalized_are_refused(tmp_path: Path, text: Path) -> None:
    result = run_script("build_lm.py", text, "--out", tmp_path / "lm", "--transcript_case", "upper")
    assert result.returncode == 1
    assert result.stderr == "build_lm.py: error: --transcript_case: needs --normalize_transcripts\n"


@needs_lm_tools
def test_files_built_from_text_decode_it(tmp_path: Path, text: Path) -> None:
    result = run_script(
        "build_lm.py", text, "--out", tmp_path / "lm", "--order", "3", "--prune", "0", "--tools", LM_TOOLS
    )
    assert result.returncode == 0, result.stderr
    assert sorted(path.name for path in (tmp_path / "lm").iterdir()) == ["lm.arpa", "lm.binary", "lm.scorer", "lm.trie"]
    scorers = [
        Scorer.load(LABELS, tmp_path / "lm/lm.arpa"),
        Scorer.load(LABELS, tmp_path / "lm/lm.binary", tmp_path / "lm/lm.trie"),
        Scorer.load(LABELS, tmp_path / "lm/lm.scorer"),
    ]
    sentence = "the blue box is on the floor"
    posteriors = np.full((2 * len(sentence), 29), 0.6 / 28)
    posteriors[::2, 28] = 0.4
    posteriors[np.arange(1, len(posteriors), 2), [LABELS.index(character) for character in sentence]] = 0.4
    for scorer in scorers:
        assert CTCDecoder(LABELS, DecoderOptions(100), scorer).decode(posteriors)[0].text == sentence
    assert "schön" not in (tmp_path / "lm/lm.arpa").read_text()


@needs_lm_tools
def test_files_are_written_through_links_to_where_these_lead(tmp_path: Path, text: Path) -> None:
    for name in ("elsewhere", "lm"):
        (tmp_path / name).mkdir()
    (tmp_path / "elsewhere/big.binary").write_text("an older model")
    (tmp_path / "lm/lm.binary").symlink_to(tmp_path / "elsewhere/big.binary")
    result = run_script("build_lm.py", text, "--out", tmp_path / "lm", "--order", "2", "--tools", LM_TOOLS)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "lm/lm.binary").is_symlink()
    Scorer.load(LABELS, tmp_path / "elsewhere/big.binary", tmp_path / "lm/lm.trie")
    assert sorted(path.name for path in tmp_path.glob("*/*")) == [
        *("big.binary", "lm.arpa", "lm.binary", "lm.scorer", "lm.trie")
    ]


@needs_lm_tools
@pytest.mark.parametrize("name", ["text.gz", "TEXT.TXT.GZ"])
def test_gzip_text_with_a_vocabulary_limit_keeps_the_most_frequent_words(tmp_path: Path, text: Path, name: str) -> None:
    packed = tmp_path / name
    packed.write_bytes(gzip.compress(text.read_bytes()))
    result = run_script(
        "build_lm.py", packed, "--out", tmp_path, "--order", "2", "--vocabulary", "3", "--tools", LM_TOOLS
    )
    assert result.returncode == 0, result.stderr
    unigrams = (tmp_path / "lm.arpa").read_text().split("\\2-grams")[0]
    assert {"the", "is", "on"} == set(re.findall(r"\t([a-z]+)\t?", unigrams))


@needs_lm_tools
def test_words_that_mean_something_to_kenlm_are_left_out_of_a_text(tmp_path: Path, text: Path) -> None:
    text.write_text(TEXT + 5 * "<s> the <unk> box is red </s>\n")
    result = run_script(
        "build_lm.py", text, "--out", tmp_path / "lm", "--order", "2", "--prune", "0", "--tools", LM_TOOLS
    )
    assert result.returncode == 0, result.stderr
    bigrams = (tmp_path / "lm/lm.arpa").read_text().split("\\2-grams:")[1]
    assert "<s> the" in bigrams and "<unk>" not in bigrams


@needs_lm_tools
def test_tuning_finds_weights_that_make_no_errors(tmp_path: Path, text: Path) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("matplotlib")
    run_script("build_lm.py", text, "--out", tmp_path, "--order", "2", "--prune", "0", "--tools", LM_TOOLS)
    sentences = ["the red ball is on the shelf", "the green book is on the table"]
    arrays = []
    for sentence in sentences:
        frames = np.full((2 * len(sentence), 29), 0.02)
        frames[::2, 28] = 1
        frames[np.arange(1, len(frames), 2), [LABELS.index(character) for character in sentence]] = 1
        arrays.append(frames / frames.sum(axis=1, keepdims=True))
    np.savez(tmp_path / "dev.npz", *arrays)
    (tmp_path / "dev.txt").write_text("\n".join(sentences))
    files: list[str | Path] = [
        "--posteriors",
        tmp_path / "dev.npz",
        "--references",
        tmp_path / "dev.txt",
        "--lm",
        tmp_path / "lm.binary",
    ]
    result = run_script("tune_lm.py", *files, "--out", tmp_path / "tuned", "--trials", "5", "--beam-width", "50")
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"--lm_weight [\d.]+ --valid_word_count_weight -?[\d.]+\n", result.stdout)
    assert "WER 0.00 %" in result.stderr
    assert (tmp_path / "tuned/tuning.png").read_bytes().startswith(b"\x89PNG")
    assert len((tmp_path / "tuned/tuning.csv").read_text().splitlines()) == 6


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe", "text.txt:1: not UTF-8"), (b"1234 5678\n", "no word of .* can be spelled")],
)
def test_bad_text_is_one_line_and_exit_code_1(tmp_path: Path, content: bytes, message: str) -> None:
    for tool in ("lmplz", "filter", "build_binary"):
        (tmp_path / tool).touch()
    (tmp_path / "text.txt").write_bytes(content)
    result = run_script("build_lm.py", tmp_path / "text.txt", "--out", tmp_path / "lm", "--tools", tmp_path)
    assert result.returncode == 1
    assert re.search(message, result.stderr)
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "lm").exists()


def test_damage_in_the_middle_of_a_gzip_file_is_one_line(tmp_path: Path, text: Path) -> None:
    for tool in ("lmplz", "filter", "build_binary"):
        (tmp_path / tool).touch()
    packed = bytearray(gzip.compress(text.read_bytes()))
    packed[10:14] = b"\xff" * 4
    (tmp_path / "text.gz").write_bytes(packed)
    result = run_script("build_lm.py", tmp_path / "text.gz", "--out", tmp_path / "lm", "--tools", tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith(f"build_lm.py: error: {tmp_path / 'text.gz'}: damaged gzip file (Error -3")


def test_missing_programs_are_named(tmp_path: Path, text: Path) -> None:
    result = run_script("build_lm.py", text, "--out", tmp_path / "lm", "--tools", tmp_path)
    assert result.returncode == 1
    assert "has no lmplz, filter, build_binary; run `make lm-tools`" in result.stderr


def build_lm_tools(path: Path) -> subprocess.CompletedProcess[str]:
    """Run what `make lm-tools` does, with the programs of the folder `path` alone."""
    bash = shutil.which("bash")
    assert bash is not None
    command: list[str | Path] = [bash, ROOT / "native_client/build_lm_tools.sh", path / "kenlm", path / "lm-tools"]
    return subprocess.run(command, capture_output=True, text=True, env={"PATH": str(path)})


def test_missing_system_packages_are_one_command_to_install_them(tmp_path: Path) -> None:
    result = build_lm_tools(tmp_path)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == (
        "lm-tools: packages of the system are missing; on Debian or Ubuntu: sudo apt-get install g++ cmake "
        "libboost-program-options-dev libboost-system-dev libboost-test-dev libboost-thread-dev libbz2-dev "
        "liblzma-dev zlib1g-dev\n"
    )


def test_only_the_missing_system_packages_are_named(tmp_path: Path) -> None:
    (tmp_path / "cmake").write_text("#!/bin/sh\n")
    (tmp_path / "g++").write_text('#!/bin/sh\nread line\ncase "$line" in *boost/thread.hpp*) exit 1;; esac\n')
    for program in ("cmake", "g++"):
        (tmp_path / program).chmod(0o755)
    result = build_lm_tools(tmp_path)
    assert result.returncode == 1
    assert result.stderr.endswith(": sudo apt-get install libboost-thread-dev\n")
