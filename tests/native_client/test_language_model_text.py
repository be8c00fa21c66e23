"""What bin/build_lm.py makes of a text before KenLM's programs read it, and where it writes their files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from running import LM_TOOLS, ROOT, assert_fails_with, needs_lm_tools, run_script

from deepspeech.decoder import Scorer


@pytest.fixture
def tools_that_keep_what_they_read(tmp_path: Path) -> Path:
    for tool in ("filter", "build_binary"):
        (tmp_path / tool).touch()
    (tmp_path / "lmplz").write_text(f"#!/bin/sh\ncat > '{tmp_path}/read.txt'\nexit 1\n")
    (tmp_path / "lmplz").chmod(0o755)
    return tmp_path


def test_text_is_normalized_as_transcripts_are(tmp_path: Path, tools_that_keep_what_they_read: Path) -> None:
    (tmp_path / "text.txt").write_text("Don\u2019t \u2014 STOP!\n\u00abgo\u00bb\n", encoding="utf-8")
    folders = ("--out", tmp_path / "lm", "--tools", tools_that_keep_what_they_read)
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders, "--normalize_transcripts")
    assert "3 words, 3 of them kept" in result.stderr and "lmplz failed" in result.stderr
    assert (tmp_path / "read.txt").read_text() == "don't stop\ngo\n"


def test_words_that_are_pruned_are_not_counted_as_kept(tmp_path: Path, tools_that_keep_what_they_read: Path) -> None:
    (tmp_path / "text.txt").write_text("go stop\ngo\n")
    folders = ("--out", tmp_path / "lm", "--tools", tools_that_keep_what_they_read)
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders, "--prune", 1)
    assert "2 words, 1 of them kept, which are 66.67 % of the text" in result.stderr
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders, "--prune", 2)
    assert_fails_with(result, "no word of the text is left by --prune=2; lower it")


def test_words_are_utf_8_whatever_the_locale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for tool, command in (("lmplz", "cat"), ("filter", f"cat > '{tmp_path}/read.txt'; exit 1"), ("build_binary", "")):
        (tmp_path / tool).write_text(f"#!/bin/sh\n{command}\n")
        (tmp_path / tool).chmod(0o755)
    (tmp_path / "alphabet.txt").write_text(" \nä\nю\n", encoding="utf-8")
    (tmp_path / "text.txt").write_text("ä ю\n", encoding="utf-8")
    for name, value in {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}.items():
        monkeypatch.setenv(name, value)  # a locale whose encoding is ASCII
    folders = ("--out", tmp_path / "lm", "--tools", tmp_path)
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders, "--alphabet", tmp_path / "alphabet.txt")
    assert "filter failed" in result.stderr
    assert set((tmp_path / "read.txt").read_text(encoding="utf-8").split()) == {"ä", "ю"}


def test_transcripts_of_lists_are_sentences(tmp_path: Path, tools_that_keep_what_they_read: Path) -> None:
    (tmp_path / "train.csv").write_text("wav_filename,transcript\na.wav,one two\nb.wav,\n", encoding="utf-8")
    (tmp_path / "more.jsonl").write_text('{"audio_filepath": "c.wav", "text": "three"}\n', encoding="utf-8")
    (tmp_path / "text.csv").write_text("four, five\n", encoding="utf-8")
    texts = [tmp_path / name for name in ("train.csv", "more.jsonl", "text.csv")]
    folders = ("--out", tmp_path / "lm", "--tools", tools_that_keep_what_they_read)
    run_script("build_lm.py", *texts, *folders)
    assert (tmp_path / "read.txt").read_text(encoding="utf-8") == "one two\nthree\nfour, five\n"


def test_byte_order_marks_and_empty_lines_are_no_text(tmp_path: Path, tools_that_keep_what_they_read: Path) -> None:
    (tmp_path / "text.txt").write_text("one two\n\n  \nthree\n\n", encoding="utf-8-sig")
    folders = ("--out", tmp_path / "lm", "--tools", tools_that_keep_what_they_read)
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders)
    assert "3 words, 3 of them kept" in result.stderr
    assert (tmp_path / "read.txt").read_text(encoding="utf-8") == "one two\nthree\n"


@pytest.mark.parametrize(
    ("labels", "read"), [("你\n好\n", "你 好 你\n"), ("你\n好\n \n", "你 好 <space> 你\n")], ids=["without", "with"]
)
def test_spaces_between_characters_are_read_where_a_label_is_one(
    tmp_path: Path, tools_that_keep_what_they_read: Path, labels: str, read: str
) -> None:
    (tmp_path / "alphabet.txt").write_text(labels, encoding="utf-8")
    (tmp_path / "text.txt").write_text("你好 你\n", encoding="utf-8")
    folders = ("--out", tmp_path / "lm", "--tools", tools_that_keep_what_they_read)
    result = run_script(
        "build_lm.py", tmp_path / "text.txt", *folders, "--alphabet", tmp_path / "alphabet.txt", "--unit", "character"
    )
    assert f"{len(set(read.split()))} characters, " in result.stderr
    assert (tmp_path / "read.txt").read_text(encoding="utf-8") == read


@pytest.mark.parametrize(
    ("text", "unit", "noted"), [("กิน ดี a", "word", 1), ("กิน ดี", "character", 0), ("a b กิน", "word", 0)]
)
def test_words_of_a_script_without_spaces_are_noted(
    tmp_path: Path, tools_that_keep_what_they_read: Path, text: str, unit: str, noted: int
) -> None:
    (tmp_path / "alphabet.txt").write_text("\n".join(" กินดab" + "\u0e35"), encoding="utf-8")
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    folders = ("--out", tmp_path / "lm", "--tools", tools_that_keep_what_they_read)
    alphabet = ("--alphabet", tmp_path / "alphabet.txt")
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders, *alphabet, "--unit", unit)
    assert result.stderr.count("unless the text is divided into words, give --unit character") == noted


def test_words_that_no_scorer_package_holds_are_left_out(tmp_path: Path, tools_that_keep_what_they_read: Path) -> None:
    (tmp_path / "text.txt").write_text(f"{999 * 'a'} {998 * 'b'} one\n")
    folders = ("--out", tmp_path / "lm", "--tools", tools_that_keep_what_they_read)
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders)
    assert "3 words, 2 of them kept, which are 66.67 % of the text\n" in result.stderr


def test_words_that_the_labels_cannot_spell_are_told(tmp_path: Path, tools_that_keep_what_they_read: Path) -> None:
    (tmp_path / "text.txt").write_text("für dich und mich\nfür über\n", encoding="utf-8")
    folders = ("--out", tmp_path / "lm", "--tools", tools_that_keep_what_they_read)
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders)
    assert re.search(r"5 words, 3 of them kept, .*alphabet\.txt cannot spell 2, such as 'für'\n", result.stderr)


def test_flags_that_would_make_words_fit_the_labels_are_named(
    tmp_path: Path, tools_that_keep_what_they_read: Path
) -> None:
    (tmp_path / "alphabet.txt").write_text("\n".join(" \u00f4aghimnuy"), encoding="utf-8")
    (tmp_path / "text.txt").write_text("xyz H\u00f4m nay, ga xyz\n", encoding="utf-8")
    folders = ("--out", tmp_path / "lm", "--tools", tools_that_keep_what_they_read)
    alphabet = ("--alphabet", tmp_path / "alphabet.txt")
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders, *alphabet)
    assert "cannot spell 3, such as 'H\u00f4m', which --normalize_transcripts would fix\n" in result.stderr
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders, *alphabet, "--normalize_transcripts")
    assert "cannot spell 1, such as 'xyz'\n" in result.stderr


def test_a_text_without_a_word_that_the_labels_can_spell_says_which_alphabet_is_needed(
    tmp_path: Path, tools_that_keep_what_they_read: Path
) -> None:
    (tmp_path / "text.txt").write_text("\uc624\ub298\uc740 \uc6b0\ub9ac\n", encoding="utf-8")
    folders = ("--out", tmp_path / "lm", "--tools", tools_that_keep_what_they_read)
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders)
    assert result.returncode == 1
    assert result.stderr.endswith(
        "alphabet.txt, such as '\uc624\ub298\uc740'; --alphabet must name the acoustic model's alphabet\n"
    )


def test_labels_without_a_space_have_no_words_to_count(tmp_path: Path, tools_that_keep_what_they_read: Path) -> None:
    (tmp_path / "alphabet.txt").write_text("你\n好\n", encoding="utf-8")
    (tmp_path / "text.txt").write_text("你好 你\n", encoding="utf-8")
    folders = ("--out", tmp_path / "lm", "--tools", tools_that_keep_what_they_read)
    result = run_script("build_lm.py", tmp_path / "text.txt", *folders, "--alphabet", tmp_path / "alphabet.txt")
    assert result.returncode == 1
    assert result.stderr.startswith("build_lm.py: error: --unit=word: ")
    assert result.stderr.endswith("alphabet.txt has no space to separate words; give --unit character\n")
    assert not (tmp_path / "lm").exists()


@needs_lm_tools
def test_files_are_written_through_links_to_where_these_lead(tmp_path: Path) -> None:
    for name in ("elsewhere", "lm"):
        (tmp_path / name).mkdir()
    (tmp_path / "text.txt").write_text(20 * "one two\ntwo one\none one two\n")
    (tmp_path / "elsewhere/big.binary").write_text("an older model")
    (tmp_path / "lm/lm.binary").symlink_to(tmp_path / "elsewhere/big.binary")
    files = (tmp_path / "text.txt", "--out", tmp_path / "lm", "--tools", LM_TOOLS)
    result = run_script("build_lm.py", *files, "--order", "2")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "lm/lm.binary").is_symlink()
    Scorer.load(" abcdefghijklmnopqrstuvwxyz'", tmp_path / "elsewhere/big.binary", tmp_path / "lm/lm.trie")
    assert sorted(path.name for path in tmp_path.glob("*/*")) == [
        *("big.binary", "lm.arpa", "lm.binary", "lm.scorer", "lm.trie")
    ]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_build_that_is_stopped_ends_lmplz_and_leaves_no_files(tmp_path: Path, sent: signal.Signals) -> None:
    for tool in ("filter", "build_binary"):
        (tmp_path / tool).touch()
    started = tmp_path / "started.txt"
    (tmp_path / "lmplz").write_text(f"#!/bin/sh\ncat > /dev/null\necho $$ > '{started}'\nexec sleep 600\n")
    (tmp_path / "lmplz").chmod(0o755)
    (tmp_path / "text.txt").write_text("go stop\n")
    files = (ROOT / "bin/build_lm.py", tmp_path / "text.txt", "--out", tmp_path / "lm", "--tools", tmp_path)
    listening = ["env", f"--default-signal={sent.name}"]  # the tests may run in the background, where SIGINT is ignored
    process = subprocess.Popen([*listening, sys.executable, *map(str, files)], stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (started.exists() and started.read_text().endswith("\n")):
        time.sleep(0.02)
    process.send_signal(sent)
    _, told = process.communicate(timeout=600)
    assert process.returncode == 128 + sent, told
    assert not list((tmp_path / "lm").iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


def test_closed_streams_do_not_stop_a_script(tmp_path: Path, tools_that_keep_what_they_read: Path) -> None:
    (tmp_path / "text.txt").write_text("go stop\n")
    files = (ROOT / "bin/build_lm.py", tmp_path / "text.txt", "--out", tmp_path / "lm")
    command = ["sh", "-c", '"$@" >&- 2>&-', "sh", sys.executable, *map(str, files), "--tools"]
    subprocess.run([*command, str(tools_that_keep_what_they_read)], timeout=600, check=False)
    assert (tmp_path / "read.txt").read_text() == "go stop\n"
