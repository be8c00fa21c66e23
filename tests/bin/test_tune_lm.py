"""bin/tune_lm.py, which finds a language model's weights: what it takes, and how it refuses the rest."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from corpora import TinyCorpus, write_csv
from running import run_script

LABELS = tuple(" abcdefghijklmnopqrstuvwxyz'")


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
    assert "give --model and --csv, or --posteriors and --references with --alphabet and --output_unit, and" in line
