"""bin/make_alphabet.py: the characters of transcripts, counted and written as an alphabet."""

import subprocess
import sys
from pathlib import Path

import pytest
from corpora import write_csv
from running import ROOT, assert_fails_with, run_script

from deepspeech.util.output_units import load_alphabet
from deepspeech.util.text import Alphabet

ROWS = ["Caf\u00e9 #1!", *["a b"] * 5, "cafe\u0301 5 \u20ac", "x" * 40 + "z" + "x" * 40]


def corpus(folder: Path) -> Path:
    return write_csv(folder / "all.csv", [(folder / "a.wav", row) for row in ROWS])


def test_characters_are_counted_shown_and_written(tmp_path: Path) -> None:
    to = tmp_path / "new/alphabet.txt"
    done = run_script("make_alphabet.py", corpus(tmp_path), "--to", to)
    assert done.returncode == 0, done.stderr
    assert to.read_text(encoding="utf-8").splitlines() == [" ", "!", "\\#", *"15Cabcefxz\u00e9\u0301\u20ac"]
    assert Alphabet.load(to).labels == tuple(" !#15Cabcefxz\u00e9\u0301\u20ac")
    lines = done.stdout.splitlines()
    assert lines[0] == "80  U+0078  x  LATIN SMALL LETTER X"
    assert f" 1  U+0043  C  LATIN CAPITAL LETTER C  {tmp_path}/all.csv:2: Caf\u00e9 #1!" in lines
    assert f" 1  U+0301  \u25cc\u0301  COMBINING ACUTE ACCENT  {tmp_path}/all.csv:8: cafe\u0301 5 \u20ac" in lines
    (rare,) = (line for line in lines if "LETTER Z" in line)
    assert rare.endswith(f"all.csv:9: \u2026{'x' * 30}z{'x' * 29}\u2026")
    notes = done.stderr.splitlines()
    for said in (
        "form NFC: 1 transcript, such",
        "combining characters: 1, such",
        "digits",
        "become labels: ! # \u20ac",
    ):
        assert any(said in note for note in notes), said
    assert notes[-1] == f"{to}: 16 labels of 8 transcripts"
    assert_fails_with(run_script("make_alphabet.py", tmp_path / "all.csv", "--to", to), f"--to={to}", "--force")


def test_the_alphabet_is_written_also_if_the_table_is_not_read_to_its_end(tmp_path: Path) -> None:
    written = write_csv(tmp_path / "all.csv", [(tmp_path / "a.wav", "".join(map(chr, range(0x4E00, 0x5E00))))])
    command = [sys.executable, str(ROOT / "bin/make_alphabet.py"), str(written), f"--to={tmp_path / 'alphabet.txt'}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as making:
        assert making.stdout is not None and making.stderr is not None
        making.stdout.close()
        assert making.stderr.read() == b"" and making.wait() == 0
    assert Alphabet.load(tmp_path / "alphabet.txt").size == 0x1000


def test_an_alphabet_of_normalized_transcripts_has_what_the_trainer_sees(tmp_path: Path) -> None:
    to = tmp_path / "alphabet.txt"
    to.write_text("a\n")
    flags = ("--force", "--normalize_transcripts", "--keep_punctuation=#", "--least", "2")
    done = run_script("make_alphabet.py", corpus(tmp_path), "--to", to, *flags)
    assert done.returncode == 0, done.stderr
    assert Alphabet.load(to).labels == tuple(" abcfx\u00e9")
    assert "LETTER Z" in done.stdout and "CAPITAL" not in done.stdout
    assert "3 transcripts, such" in done.stderr and "'\u20ac' (U+20AC EURO SIGN)" in done.stderr
    assert "NFC" not in done.stderr and "combining" not in done.stderr


def test_apostrophes_of_several_kinds_are_told_apart_from_punctuation(tmp_path: Path) -> None:
    texts = ("п'ять", "сім\u2019я", "ім\u02bcя!")
    written = write_csv(tmp_path / "all.csv", [(tmp_path / "a.wav", text) for text in texts])
    done = run_script("make_alphabet.py", written, "--to", tmp_path / "alphabet.txt")
    assert "other apostrophes than ' become labels: \u02bc \u2019; --normalize_transcripts writes '\n" in done.stderr
    assert "punctuation and symbols become labels: !; --normalize_transcripts leaves them out\n" in done.stderr


def test_letters_and_their_marks_can_be_one_label(tmp_path: Path) -> None:
    written = write_csv(tmp_path / "all.csv", [(tmp_path / "a.wav", "\u0b95\u0bbf \u0b95\u0ba4\u0bcd")])
    done = run_script("make_alphabet.py", written, "--to", tmp_path / "alphabet.txt", "--join_marks")
    assert done.returncode == 0, done.stderr
    assert Alphabet.load(tmp_path / "alphabet.txt").labels == (" ", "\u0b95", "\u0b95\u0bbf", "\u0ba4\u0bcd")
    assert "1  U+0B95 U+0BBF  \u0b95\u0bbf  TAMIL LETTER KA, TAMIL VOWEL SIGN I" in done.stdout
    assert "combining" not in done.stderr
    written = write_csv(tmp_path / "joined.csv", [(tmp_path / "a.wav", "\u09b0\u200d\u09cd\u09af")])
    done = run_script("make_alphabet.py", written, "--to", tmp_path / "joined.txt", "--join_marks")
    assert Alphabet.load(tmp_path / "joined.txt").labels == ("\u09af", "\u09b0\u200d\u09cd"), done.stderr


def test_an_alphabet_that_the_trainer_would_refuse_is_not_written(tmp_path: Path) -> None:
    """Of accents that are characters of their own, the trainer says which form they must have."""
    written = write_csv(tmp_path / "nfd.csv", [(tmp_path / "a.wav", "cafe\u0301")])
    to = tmp_path / "alphabet.txt"
    done = run_script("make_alphabet.py", written, "--to", to, "--join_marks")
    assert_fails_with(done, "'e\u0301' is one character in two parts", "give --normalize_transcripts")
    assert not to.exists()
    done = run_script("make_alphabet.py", written, "--to", to, "--join_marks", "--normalize_transcripts")
    assert done.returncode == 0, done.stderr
    assert Alphabet.load(to).labels == ("a", "c", "f", "\u00e9")


def test_a_folder_is_no_place_for_an_alphabet(tmp_path: Path) -> None:
    done = run_script("make_alphabet.py", corpus(tmp_path), "--to", tmp_path)
    assert_fails_with(done, f"--to={tmp_path}: is a folder; name a file in it")


def test_a_corpus_is_not_written_over_by_its_alphabet(tmp_path: Path) -> None:
    written = corpus(tmp_path)
    before = written.read_text()
    done = run_script("make_alphabet.py", written, "--to", tmp_path / "." / "all.csv", "--force")
    assert_fails_with(done, f"--to={written}: is read here, and would be written over")
    assert written.read_text() == before


def test_the_alphabets_of_other_units_fit_the_transcripts(tmp_path: Path) -> None:
    written = write_csv(tmp_path / "words.csv", [(tmp_path / "a.wav", "the cat sat on the mat at the other cat")] * 9)
    done = run_script(
        "make_alphabet.py", written, "--to", tmp_path / "p.model", "--output_unit", "wordpieces", "--size", "16"
    )
    assert done.returncode == 0, done.stderr
    pieces = load_alphabet("wordpieces", tmp_path / "p.model")
    assert pieces.size <= 16 and not pieces.missing("other cat")
    assert_fails_with(
        run_script("make_alphabet.py", written, "--to", tmp_path / "q", "--output_unit=wordpieces", "--size=5"),
        "5 word pieces cannot be made of these transcripts: 11 characters",
    )
    written = write_csv(tmp_path / "mandarin.csv", [(tmp_path / "a.wav", text) for text in ("你好", "你a好")])
    done = run_script("make_alphabet.py", written, "--to", tmp_path / "s.txt", "--output_unit=pinyin")
    assert done.returncode == 0, done.stderr
    syllables = load_alphabet("pinyin", tmp_path / "s.txt")
    assert syllables.decode(syllables.encode("你好吗")) == "ni3 hao3 ma5"
    assert "1  hao3" in done.stdout and "will be bad rows, as the alphabet lacks 'a' (U+0061" in done.stderr


@pytest.mark.parametrize(
    ("flags", "refusal"),
    [
        (("--output_unit=wordpieces", "--least=2"), "--least: is for --output_unit=characters"),
        (("--output_unit=pinyin", "--join_marks"), "--join_marks: is for --output_unit=characters"),
        (("--size=100",), "--size: is for --output_unit=wordpieces"),
    ],
)
def test_a_flag_that_the_unit_makes_nothing_of_is_refused(flags: tuple[str, ...], refusal: str, tmp_path: Path) -> None:
    done = run_script("make_alphabet.py", corpus(tmp_path), "--to", tmp_path / "labels", *flags)
    assert_fails_with(done, refusal)
