import csv
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile
from corpora import RATE, TinyCorpus, write_alphabet, write_csv, write_wav
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.util.audio import inspect_audio
from deepspeech.util.corpus import read_corpus
from deepspeech.util.corpus_files import further_columns
from deepspeech.util.errors import CorpusError
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.text import Alphabet

ALPHABET = Alphabet(tuple(" abc"))
MFCC = front_end(FeatureOptions())
HEADER = b"wav_filename,wav_filesize,transcript\n"


def sound(seconds: float, rate: int = RATE) -> npt.NDArray[np.float32]:
    return (np.sin(np.arange(int(seconds * rate)) / 5) / 10).astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a.wav, b.wav and c.wav of 0.2, 0.4 and 0.6 seconds."""
    for name, seconds in (("a", 0.2), ("b", 0.4), ("c", 0.6)):
        write_wav(tmp_path / f"{name}.wav", sound(seconds))
    return tmp_path


def train_csv(folder: Path, content: bytes) -> Path:
    path = folder / "train.csv"
    path.write_bytes(content)
    return path


def bad_lines(csv_file: Path) -> list[str]:
    with pytest.raises(CorpusError) as error:
        read_corpus([csv_file], ALPHABET, MFCC)
    return str(error.value).replace(f"{csv_file.parent}/", "").splitlines()


def test_utterances_come_shortest_first_with_labels_and_frames(folder: Path) -> None:
    csv_file = write_csv(folder / "train.csv", [(folder / f"{name}.wav", "a b") for name in "cab"])
    corpus = read_corpus([csv_file], ALPHABET, MFCC)
    assert [Path(utterance.path).name for utterance in corpus] == ["a.wav", "b.wav", "c.wav"]
    assert [utterance.frames for utterance in corpus] == [9, 19, 29]
    assert [utterance.source for utterance in corpus] == [f"{csv_file}:{line}" for line in (3, 4, 2)]
    assert corpus[0].labels.tolist() == [1, 0, 2]
    assert corpus[0].labels.dtype == np.int32
    assert corpus.hours == pytest.approx(1.2 / 3600)
    assert corpus.effort == [0, 3200, 9600, 19200]


def test_several_files_merge_and_equal_durations_keep_their_order(folder: Path) -> None:
    (folder / "more").mkdir()
    write_wav(folder / "more" / "d.wav", sound(0.4))
    first = write_csv(folder / "first.csv", [(folder / "b.wav", "b"), (folder / "a.wav", "a")])
    second = write_csv(folder / "more" / "second.csv", [(folder / "more" / "d.wav", "c")])
    assert [utterance.transcript for utterance in read_corpus([first, second], ALPHABET, MFCC)] == ["a", "b", "c"]
    assert [utterance.transcript for utterance in read_corpus([second, first], ALPHABET, MFCC)] == ["a", "c", "b"]


def test_durations_are_compared_whatever_the_rate_and_format(tmp_path: Path) -> None:
    rates = {"a": 8000, "b": 44100, "c": 16000}
    rows = [
        (write_wav(tmp_path / f"{name}.wav", sound(1 + i / 10, rate), rate), name)
        for i, (name, rate) in enumerate(rates.items())
    ]
    corpus = read_corpus([write_csv(tmp_path / "train.csv", rows)], ALPHABET, MFCC)
    assert [utterance.transcript for utterance in corpus] == ["a", "b", "c"]
    assert [utterance.samples for utterance in corpus] == [16000, 17600, 19200]


def test_the_limit_keeps_the_shortest(folder: Path) -> None:
    csv_file = write_csv(folder / "train.csv", [(folder / f"{name}.wav", name) for name in "cba"])
    assert [utterance.transcript for utterance in read_corpus([csv_file], ALPHABET, MFCC, limit=2)] == ["a", "b"]


def test_absolute_names_other_columns_and_any_column_order_are_fine(folder: Path) -> None:
    csv_file = train_csv(folder, f"speaker,transcript,wav_filename,wav_filesize\nx,a,{folder}/a.wav,\n".encode())
    assert read_corpus([csv_file], ALPHABET, MFCC)[0].transcript == "a"


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_byte_order_mark_and_line_ends_do_not_matter(folder: Path, line_end: bytes, mark: bytes) -> None:
    content = mark + (HEADER + b"a.wav,1,a\n\nb.wav,1,b\n").replace(b"\n", line_end)
    corpus = read_corpus([train_csv(folder, content)], ALPHABET, MFCC)
    assert [(utterance.transcript, utterance.line) for utterance in corpus] == [("a", 2), ("b", 4)]


def test_spaces_that_separate_no_words_are_left_out_and_counted(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    csv_file = train_csv(folder, HEADER + b"a.wav,1, a b\nb.wav,1,a  b \nc.wav,1,a b\n")
    corpus = read_corpus([csv_file], ALPHABET, MFCC)
    assert [utterance.transcript for utterance in corpus] == ["a b"] * 3
    assert [utterance.labels.tolist() for utterance in corpus] == [[1, 0, 2]] * 3
    assert [each.getMessage() for each in caplog.records] == [
        f"{csv_file}: 2 transcripts have spaces at an end or several in a row, which are removed, "
        f"such as that of {csv_file}:2"
    ]


def test_spaces_after_the_commas_of_the_header_are_no_part_of_any_field(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    content = b'transcript, wav_filename, wav_filesize\n"a\nb", "a.wav", 1\na b, b.wav, 1\n"a, b", c.wav, 1\n'
    with pytest.raises(CorpusError) as error:
        read_corpus([train_csv(folder, content)], ALPHABET, MFCC)
    assert [line.split(": not")[0].split(": ", 1)[1] for line in str(error.value).splitlines()[1:]] == [
        r"transcript 'a\nb'",
        "transcript 'a, b'",
    ]
    assert [row.source.split(":")[1] for row in error.value.bad_rows] == ["2", "5"]
    assert not caplog.records


def test_every_bad_row_is_listed_with_its_line_and_reason(folder: Path) -> None:
    whole = (folder / "a.wav").read_bytes()
    (folder / "cut.wav").write_bytes(whole[:-100])
    write_wav(folder / "empty.wav", sound(0))
    (folder / "text.wav").write_text("not a recording")
    rows = ["none.wav,1,a", "cut.wav,1,a", "empty.wav,1,a", "text.wav,1,a", "a.wav,1, ", "a.wav,1,aé", "b.wav,1,b"]
    rows += ["a.wav,1," + "abc" * 4, "a.wav,1,aabbc", "a.wav,1,a,b", "a.wav", '"a.wav",1,"a\nb"', ",1,a"]
    assert bad_lines(train_csv(folder, HEADER + "\n".join(rows).encode())) == [
        "11 bad rows of 13 in train.csv; correct or remove the rows listed here:",
        "train.csv:2: none.wav: No such file or directory",
        "train.csv:3: cut.wav: truncated: 6300 bytes of samples where the header promises 6400",
        "train.csv:4: empty.wav: no samples",
        "train.csv:5: text.wav: cannot be read as audio: Format not recognised.",
        "train.csv:6: empty transcript",
        "train.csv:7: transcript 'aé': not in the alphabet: 'é' (U+00E9 LATIN SMALL LETTER E WITH ACUTE)",
        "train.csv:9: a.wav: 9 frames, too few for its transcript: CTC needs 12",
        "train.csv:11: 4 fields where the header has 3 columns",
        "train.csv:12: 1 fields where the header has 3 columns",
        "train.csv:13: transcript 'a\\nb': not in the alphabet: '\\n' (U+000A); --normalize_transcripts would fix it",
        "train.csv:15: no wav_filename",
    ]


@pytest.mark.parametrize("container", ["WAV", "FLAC", "OGG", "MP3"])
@pytest.mark.parametrize("level", [0, 0.3])
def test_a_recording_of_nothing_is_named(tmp_path: Path, container: str, level: float) -> None:
    samples = np.full(RATE, level, np.float32)
    soundfile.write(tmp_path / "a", samples, RATE, format=container)
    if level and container in ("OGG", "MP3"):  # lossy, so a constant does not stay constant
        assert inspect_audio(tmp_path / "a").samples == RATE
        return
    assert bad_lines(train_csv(tmp_path, HEADER + b"a,1,a"))[1:] == [
        "train.csv:2: a: silent: all its samples are the same"
    ]


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "PCM_32", "FLOAT"])
def test_channels_that_cancel_each_other_are_silent(tmp_path: Path, subtype: str) -> None:
    soundfile.write(tmp_path / "a.wav", np.stack([sound(0.2), -sound(0.2)], axis=1), RATE, subtype=subtype)
    assert bad_lines(train_csv(tmp_path, HEADER + b"a.wav,1,a"))[1:] == [
        "train.csv:2: a.wav: silent: all its samples are the same, its channels averaged"
    ]


def test_a_recording_that_is_silent_in_the_middle_is_good(tmp_path: Path) -> None:
    samples = np.concatenate([sound(0.2), np.zeros(RATE, np.float32)])
    for order in (1, -1):
        write_wav(tmp_path / "a.wav", samples[::order])
        assert len(read_corpus([train_csv(tmp_path, HEADER + b"a.wav,1,a")], ALPHABET, MFCC)) == 1


def test_ctc_needs_a_frame_more_for_each_repeated_label(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", sound(0.2))
    assert len(read_corpus([train_csv(tmp_path, HEADER + b"a.wav,1,abcabcabc")], ALPHABET, MFCC)) == 1
    assert "CTC needs 10" in bad_lines(train_csv(tmp_path, HEADER + b"a.wav,1,aabcabcab"))[1]


def test_lines_are_those_of_the_file_even_after_a_quoted_line_break(folder: Path) -> None:
    csv_file = train_csv(folder, HEADER + b'\r\na.wav,1,a\n"a.wav",1,"a\n\nb"\r\nnone.wav,1,a\n')
    assert [line.split(": ")[0] for line in bad_lines(csv_file)[1:]] == ["train.csv:4", "train.csv:7"]


def test_bad_rows_are_skipped_and_logged_when_told_so(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    csv_file = train_csv(folder, HEADER + b"none.wav,1,a\na.wav,1,a\n")
    with caplog.at_level(logging.WARNING, "deepspeech"):
        corpus = read_corpus([csv_file], ALPHABET, MFCC, skip_bad_rows=True)
    assert len(corpus) == 1
    assert caplog.messages[0] == f"Skipping 1 bad row of 2 in {csv_file}:"
    assert caplog.messages[1] == f"{csv_file}:2: {folder}/none.wav: No such file or directory"


def test_a_corpus_of_bad_rows_alone_is_an_error_even_then(folder: Path) -> None:
    with pytest.raises(CorpusError, match="2 bad rows of 2") as error:
        read_corpus([train_csv(folder, HEADER + b"none.wav,1,a\na.wav,1,x\n")], ALPHABET, MFCC, skip_bad_rows=True)
    assert [row.source.rpartition(":")[2] for row in error.value.bad_rows] == ["2", "3"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("names", [("wav_filename", "transcript"), ("path", "sentence")])
def test_lists_of_other_programs_are_read(folder: Path, separator: str, encoding: str, names: tuple[str, str]) -> None:
    clips = folder / "clips" if names[0] == "path" else folder
    write_wav(clips / "b.wav", sound(0.2))
    lines = [separator.join(("id", *names)), f'1{separator}b.wav{separator}"a b"']
    csv_file = train_csv(folder, "\r\n".join(lines).encode(encoding))
    (utterance,) = read_corpus([csv_file], ALPHABET, MFCC)
    assert (utterance.path, utterance.transcript, utterance.line) == (str(clips / "b.wav"), "a b", 2)
    assert list(further_columns(str(csv_file))) == [(2, {"id": "1"})]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"wav_filename,wav_filesize\na.wav,a\n",
            "train.csv:1: no column transcript; found: wav_filename, wav_filesize",
        ),
        (b"wav_filename;wav_filesize;text\n", "train.csv:1: no column transcript; found: wav_filename, wav_"),
        (b"PK\x03\x04\x14\x00", "train.csv: a spreadsheet or an archive; save the spreadsheet as CSV, in UTF-8"),
        (
            b"RIFF$\x00\x00\x00WAVE",
            "train.csv: a recording, not a list; give a CSV file with a line for each recording",
        ),
        (b"wav_filename,wav_filesize,transcript,transcript\n", "train.csv:1: more than one column transcript"),
        (b"", "train.csv:1: no column wav_filename"),
        (HEADER, "train.csv: no rows"),
        (HEADER + b"\n\n", "train.csv: no rows"),
        (HEADER + b"a.wav,1,a\na.wav,1,\xe9\n", "train.csv:3: not UTF-8"),
        (HEADER + b'a.wav,1,a\nb.wav,1,"b\nc.wav,1,c\n', "train.csv:3: malformed CSV in the row that starts here"),
        (HEADER + b'a.wav,1,"a"b\n', "train.csv:2: malformed CSV"),
        (HEADER + b"a.wav,1," + b"a" * 200_000, "train.csv:2: malformed CSV"),
    ],
)
def test_a_malformed_csv_is_refused_in_one_line(folder: Path, content: bytes, message: str) -> None:
    lines = bad_lines(train_csv(folder, content))
    assert len(lines) == 1
    assert lines[0].startswith(message)


def test_missing_repeated_and_absent_csv_files_are_refused(folder: Path) -> None:
    csv_file = write_csv(folder / "train.csv", [(folder / "a.wav", "a")])
    cases: list[tuple[Sequence[Path], str]] = [
        ([csv_file, folder / "none.csv"], "none.csv: cannot read the CSV: No such file"),
        ([folder.parent], "a directory without wav.scp.*; to make lists of a folder of recordings, run"),
        ([csv_file, folder / ".." / folder.name / "train.csv"], "train.csv: given twice"),
        ([], "no CSV files given"),
    ]
    for csv_files, message in cases:
        with pytest.raises(CorpusError, match=message):
            read_corpus(csv_files, ALPHABET, MFCC)


def test_the_fixture_corpus_is_good(tiny_corpus: TinyCorpus) -> None:
    alphabet = Alphabet.load(tiny_corpus.alphabet)
    sizes = [len(read_corpus([path], alphabet, MFCC)) for path in (tiny_corpus.train, tiny_corpus.dev)]
    assert sizes == [24, 6]


def test_recordings_at_eight_kilohertz_are_read(shared: Path, tmp_path: Path) -> None:
    wavs = sorted((shared / "data" / "yesno").glob("*.wav"))
    alphabet = Alphabet.load(write_alphabet(tmp_path / "alphabet.txt", " yesno"))
    lines = [f"{wav},1,{' '.join('yes' if digit == '1' else 'no' for digit in wav.stem.split('_'))}" for wav in wavs]
    corpus = read_corpus([train_csv(tmp_path, HEADER + "\n".join(lines).encode())], alphabet, MFCC)
    assert len(corpus) == 60
    assert 4 < 3600 * corpus.hours / 60 < 8


NULL = "\0" * (sys.version_info < (3, 11))  # which Python 3.10 cannot write into a CSV
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters=NULL), max_size=8)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=5))
def test_whatever_rows_are_written_their_lines_are_found(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    expected, line = list[int](), 2
    with (path := tmp_path_factory.mktemp("csv") / "train.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(["wav_filename", "wav_filesize", "transcript"])
        for row in rows:
            expected.append(line)
            writer.writerow(row)
            line += 1 + sum(field.replace("\r\n", "\n").replace("\r", "\n").count("\n") for field in row)
    with pytest.raises(CorpusError) as error:
        read_corpus([path], ALPHABET, MFCC)
    assert [int(row.source.rpartition(":")[2]) for row in error.value.bad_rows] == expected
    assert len(str(error.value).split("\n")) == 1 + len(rows)


@given(st.binary(max_size=80))
def test_any_bytes_are_refused_in_an_orderly_way(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("csv")
    for start in (b"", HEADER):
        with pytest.raises(CorpusError):
            read_corpus([train_csv(folder, start + content)], ALPHABET, MFCC)
