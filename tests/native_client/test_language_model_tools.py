"""bin/build_lm.py and bin/tune_lm.py, from text to files that decode."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from corpora import TinyCorpus, write_csv
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


@pytest.mark.parametrize(
    "flag", ["--vocabulary=-5", "--vocabulary=0", "--prune=-1", "--lm-weight=nan", "--word-bonus=inf"]
)
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


def test_transcripts_with_line_breaks_are_a_line_each_for_tuning(
    tiny_corpus: TinyCorpus, graph_file: Path, scorer_file: Path, tmp_path: Path
) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("matplotlib")
    wav = tiny_corpus.test.parent / "wav"
    first, second = (Path(shutil.copy(wav / f"test-{number}.wav", tmp_path)) for number in (0, 1))
    csv_file = write_csv(tmp_path / "dev.csv", [(first, "a\nbc"), (second, "b\u2028a\x85c")])
    model = ("--model", graph_file, "--csv", csv_file, "--lm", scorer_file)
    result = run_script("tune_lm.py", *model, "--out", tmp_path / "tuned", "--trials", "1", "--beam-width", "9")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "tuned/references.txt").read_text() == "a bc\nb a c\n"


def test_a_decomposed_alphabet_is_tuned_with_as_it_is_trained_with(scorer_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("matplotlib")
    np.savez(tmp_path / "dev.npz", np.full((5, 4), 0.25))
    (tmp_path / "dev.txt").write_text("be\u0301\n", encoding="utf-8")
    (tmp_path / "alphabet.txt").write_text(" \ne\u0301\nb\n", encoding="utf-8")
    kept = ("--posteriors", tmp_path / "dev.npz", "--references", tmp_path / "dev.txt")
    files = (*kept, "--alphabet", tmp_path / "alphabet.txt", "--lm", scorer_file, "--out", tmp_path / "tuned")
    result = run_script("tune_lm.py", *files, "--trials", "1", "--beam-width", "9", "--normalize_transcripts")
    assert result.returncode == 0, result.stderr


def test_references_may_have_a_byte_order_mark_and_must_be_text(scorer_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("matplotlib")
    posteriors = np.full((2, 29), 0.001)
    posteriors[[0, 1], [LABELS.index("b"), 28]] = 0.972
    np.savez(tmp_path / "dev.npz", posteriors)
    references = tmp_path / "dev.txt"
    kept = ("--posteriors", tmp_path / "dev.npz", "--references", references)
    files = (*kept, "--lm", scorer_file, "--out", tmp_path / "tuned", "--trials", "1", "--beam-width", "9")
    references.write_text("b\n", encoding="utf-8-sig")
    assert "WER 0.00 %" in run_script("tune_lm.py", *files, "--highest-weight=0").stderr
    references.write_bytes(b"\xe9\n")
    result = run_script("tune_lm.py", *files)
    assert result.returncode == 1
    assert re.fullmatch(r"tune_lm.py: error: .*dev.txt: not UTF-8; save it as UTF-8\n", result.stderr)


def test_only_ends_of_lines_part_references(scorer_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("matplotlib")
    posteriors = np.full((2, 29), 0.001)
    posteriors[[0, 1], [LABELS.index("b"), 28]] = 0.972
    np.savez(tmp_path / "dev.npz", posteriors, posteriors, posteriors)
    (tmp_path / "dev.txt").write_bytes("b\u2028\r\n\x0bb\nb\x85\n".encode())
    kept = ("--posteriors", tmp_path / "dev.npz", "--references", tmp_path / "dev.txt")
    files = (*kept, "--lm", scorer_file, "--out", tmp_path / "tuned", "--trials", "1", "--beam-width", "9")
    result = run_script("tune_lm.py", *files, "--highest-weight=0")
    assert result.returncode == 0, result.stderr
    assert "WER 0.00 %" in result.stderr
    assert "not in the alphabet" not in result.stderr


def test_references_that_no_weights_can_give_are_told(scorer_file: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "dev.npz", *np.eye(29)[np.newaxis, [28, 28, 28]])
    (tmp_path / "dev.txt").write_text("B\n")
    kept = ("--posteriors", tmp_path / "dev.npz", "--references", tmp_path / "dev.txt")
    result = run_script("tune_lm.py", *kept, "--lm", scorer_file, "--out", tmp_path / "tuned", "--trials", "1")
    lost = "1 of 1 references have characters that are not in the alphabet, as 'B' (U+0042 LATIN CAPITAL LETTER B): "
    assert result.stderr.startswith(lost)


@pytest.mark.parametrize("damage", ["empty", "cut off", "another checksum", "one array"])
def test_posteriors_that_are_no_npz_file_are_one_line(scorer_file: Path, tmp_path: Path, damage: str) -> None:
    posteriors, references, array = tmp_path / "dev.npz", tmp_path / "dev.npy", np.full((9, 29), 1 / 29)
    np.savez(posteriors, array)
    np.save(references, array)
    whole, one = posteriors.read_bytes(), references.read_bytes()
    contents = {"empty": b"", "cut off": whole[:999], "another checksum": whole[:500] + b"!" + whole[501:]}
    posteriors.write_bytes(contents.get(damage, one))
    files = ("--posteriors", posteriors, "--references", references, "--lm", scorer_file, "--out", tmp_path / "out")
    result = run_script("tune_lm.py", *files)
    assert result.returncode == 1
    assert result.stderr == f"tune_lm.py: error: {posteriors} is not an npz file of arrays, or it is damaged\n"


@pytest.mark.parametrize("flag", ["--trials=0", "--beam-width=0", "--highest-weight=nan", "--seed=-1"])
def test_a_number_that_cannot_be_tuned_with_is_one_line(tmp_path: Path, flag: str) -> None:
    result = run_script("tune_lm.py", "--model", "a.pb", "--csv", "a.csv", "--lm", "a.scorer", "--out", tmp_path, flag)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert f"{flag}: must be " in line


@pytest.mark.parametrize(
    "given",
    [
        ["--model=a.pb"],
        ["--references=a.txt", "--csv=a.csv"],
        ["--model=a.pb", "--csv=a.csv", "--posteriors=a.npz", "--references=a.txt"],
        ["--model=a.pb", "--csv=a.csv", "--alphabet=a.txt"],
    ],
)
def test_outputs_come_from_a_model_or_from_a_file_and_not_from_both(tmp_path: Path, given: list[str]) -> None:
    result = run_script("tune_lm.py", *given, "--lm", "a.scorer", "--out", tmp_path)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert "give either --model and --csv, or --posteriors and --references with --alphabet and --output_unit" in line


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe", ":1: not UTF-8"), (b"\x1f\x8b", "compressed"), (b"12\n", "can be spelled"), (b"\n", "no words in")],
)
def test_bad_text_is_one_line_and_exit_code_1(tmp_path: Path, content: bytes, message: str) -> None:
    for tool in ("lmplz", "filter", "build_binary"):
        (tmp_path / tool).touch()
    (tmp_path / "text.txt").write_bytes(content)
    result = run_script("build_lm.py", tmp_path / "text.txt", "--out", tmp_path / "lm", "--tools", tmp_path)
    assert result.returncode == 1
    (error,) = [line for line in result.stderr.splitlines() if not line.startswith("I Counting words")]
    assert re.search(message, error)
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
    """Run the script of `make lm-tools`, with only the programs of the folder `path`."""
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
