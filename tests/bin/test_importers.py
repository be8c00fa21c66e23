"""bin/import_*.py with recordings that are on disk, by the CSVs they write."""

import csv
from pathlib import Path

import pytest
from running import assert_fails_with, run_script, write_wav


def rows(path: Path) -> dict[str, str]:
    """Return the transcripts of a CSV by the last names of their recordings."""
    with path.open(encoding="utf-8", newline="") as file:
        return {Path(row["wav_filename"]).name: row["transcript"] for row in csv.DictReader(file)}


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    folder = tmp_path / "digits"
    for digit in (0, 9):
        for take in (0, 4, 5, 9, 10, 49):
            write_wav(folder / f"{digit}_ann_{take}.wav")
    (folder / "notes.txt").write_text("not a recording")
    return folder


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    folder = tmp_path / "answers"
    for number in range(60):
        write_wav(folder / f"{'_'.join(f'{number:08b}')}.wav")
    return folder


def test_takes_of_digits_are_split_as_the_corpus_says(digits: Path, tmp_path: Path) -> None:
    assert run_script("import_fsdd.py", tmp_path / "out", "--from", digits).returncode == 0
    for name, takes in (("test", (0, 4)), ("dev", (5, 9)), ("train", (10, 49))):
        expected = {f"0_ann_{take}.wav": "zero" for take in takes} | {f"9_ann_{take}.wav": "nine" for take in takes}
        assert rows(tmp_path / "out" / f"{name}.csv") == expected


def test_answers_are_spelled_by_the_name_and_every_second_is_for_the_test(answers: Path, tmp_path: Path) -> None:
    assert run_script("import_yesno.py", tmp_path / "out", "--from", answers).returncode == 0
    train, dev, test = (rows(tmp_path / "out" / f"{name}.csv") for name in ("train", "dev", "test"))
    ordered = sorted(path.name for path in answers.iterdir())
    assert list(test) == ordered[0::2]
    assert sorted([*train, *dev]) == ordered[1::2]
    assert (len(train), len(dev)) == (25, 5)
    assert test["0_0_1_1_0_1_1_0.wav"] == "no no yes yes no yes yes no"


def test_sizes_and_places_of_recordings_elsewhere_are_written(digits: Path, tmp_path: Path) -> None:
    run_script("import_fsdd.py", tmp_path / "out", "--from", digits)
    with (tmp_path / "out" / "test.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            path = Path(row["wav_filename"])
            assert path.is_absolute()
            assert path.stat().st_size == int(row["wav_filesize"])


def test_a_recording_that_is_cut_off_is_named(digits: Path, tmp_path: Path) -> None:
    path = digits / "9_ann_10.wav"
    path.write_bytes(path.read_bytes()[:-100])
    assert run_script("import_fsdd.py", tmp_path / "out", "--from", digits).returncode == 0
    assert path.name not in rows(tmp_path / "out" / "train.csv")
    assert f"{path}," in (tmp_path / "out" / "left_out.csv").read_text()


def test_a_folder_without_recordings_is_named(digits: Path, tmp_path: Path) -> None:
    missing = run_script("import_yesno.py", tmp_path / "out", "--from", tmp_path / "none")
    assert_fails_with(missing, str(tmp_path / "none"), "no folder")
    assert_fails_with(run_script("import_yesno.py", tmp_path / "out", "--from", digits), str(digits), "no recording")


def test_a_timit_transcript_becomes_words_of_the_alphabet(tmp_path: Path) -> None:
    wav, text = write_wav(tmp_path / "one.wav"), tmp_path / "one.txt"
    text.write_text("   0 46797 She'd had your dark suit, in greasy wash-water.\n")
    done = run_script("import_ldc93s1.py", tmp_path / "out", wav, text)
    assert done.stdout == "she'd had your dark suit in greasy wash water\n"
    assert rows(tmp_path / "out" / "ldc93s1.csv") == {"one.wav": done.stdout.strip()}


def test_a_timit_pair_that_is_incomplete_is_named(tmp_path: Path) -> None:
    wav, text = write_wav(tmp_path / "one.wav"), tmp_path / "one.txt"
    text.write_text("0 46797 .\n")
    assert_fails_with(run_script("import_ldc93s1.py", tmp_path / "out", wav, text), "one.txt", "no words")
    text.write_text("0 46797 Yes.\n")
    missing = run_script("import_ldc93s1.py", tmp_path / "out", wav, tmp_path / "two.txt")
    assert_fails_with(missing, f"{tmp_path / 'two.txt'}: No such file")
    missing = run_script("import_ldc93s1.py", tmp_path / "out", tmp_path / "two.wav", text)
    assert_fails_with(missing, "two.wav")
    assert not (tmp_path / "out" / "ldc93s1.csv").exists()
