"""CSV, TSV, JSON lines and Kaldi's directories as corpora, and their rows that are parts of recordings."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
import soundfile
from corpora import RATE, write_alphabet, write_wav

from deepspeech.cli.flags import parse
from deepspeech.training.inputs import read_inputs
from deepspeech.util.audio import AudioInfo, inspect_audio, read_audio
from deepspeech.util.checks.bad_rows.exclusion import Exclusions
from deepspeech.util.checks.overlap import overlap
from deepspeech.util.corpus import Corpus, read_corpus
from deepspeech.util.corpus_files import further_columns, listing, read_files
from deepspeech.util.errors import BadRow, CorpusError
from deepspeech.util.feature_cache import open_feature_cache
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.feeding import OnTheFly
from deepspeech.util.importing import import_corpus
from deepspeech.util.importing.pipeline.records import Choices
from deepspeech.util.parts import Part
from deepspeech.util.text import Alphabet

ALPHABET = Alphabet(tuple(" abc"))
MFCC = front_end(FeatureOptions())
HEADER = "wav_filename,wav_filesize,transcript"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with talk.flac of 3 seconds and word.wav of half a second."""
    random = np.random.default_rng(1)
    for name, seconds in (("talk.flac", 3.0), ("word.wav", 0.5)):
        write_wav(tmp_path / name, random.uniform(-0.5, 0.5, int(seconds * RATE)).astype(np.float32))
    return tmp_path


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read(*lists: Path) -> Corpus:
    return read_corpus(lists, ALPHABET, MFCC, progress=False)


def parts_csv(folder: Path, name: str, *rows: str) -> Path:
    return write(folder / f"{name}.csv", f"{HEADER},start,duration", *rows)


def kaldi(folder: Path, segments: str | None = "u1 talk 0.5 1.0\nu2 talk 1.0 -1\n") -> Path:
    write(folder / "wav.scp", f"talk {folder.parent / 'talk.flac'}", "word ../word.wav")
    write(folder / "text", *(("u1 a b", "u2 c") if segments else ("talk a b", "word c")))
    write(folder / "utt2spk", "u1 ann", "u2 bob")
    if segments:
        (folder / "segments").write_text(segments)
    return folder


def lists(folder: Path) -> dict[str, Path]:
    """Return the same two utterances in every format."""
    rows = [
        {"audio_filepath": "talk.flac", "text": "a b", "offset": 0.5, "duration": 0.5, "speaker": "ann"},
        {"audio_filepath": "talk.flac", "text": "c", "offset": 1.0, "speaker": "bob"},
    ]
    table = [*HEADER.split(","), "speaker", "start", "duration"], ["talk.flac", "9", "a b", "ann", "0.5", "0.5"]
    fields = [*table, ["talk.flac", "9", "c", "bob", "1", ""]]
    return {
        "csv": write(folder / "a.csv", *map(",".join, fields)),
        "offset": write(folder / "b.csv", *map(",".join, fields)),
        "tsv": write(folder / "a.tsv", *map("\t".join, fields)),
        "jsonl": write(folder / "a.jsonl", *map(json.dumps, rows)),
        "start": write(folder / "b.jsonl", *(json.dumps(row).replace("offset", "start") for row in rows)),
        "kaldi": kaldi(folder / "data"),
    }


@pytest.mark.parametrize("kind", ["csv", "offset", "tsv", "jsonl", "start", "kaldi"])
def test_every_format_says_which_parts_of_a_recording_are_utterances(kind: str, folder: Path) -> None:
    path = lists(folder)[kind]
    if kind == "offset":
        path.write_text(path.read_text().replace(",start,", ",offset,"))
    first, second = read(path)
    assert (first.transcript, first.part, first.samples) == ("a b", Part(0.5, 1.0), RATE // 2)
    assert (second.transcript, second.part, second.samples) == ("c", Part(1.0, 3.0), 2 * RATE)
    assert first.place == f"{folder}/talk.flac#t=0.500,1.000"
    assert Path(first.csv_file) == listing(path)
    speakers = {line: columns["speaker"] for line, columns in further_columns(first.csv_file)}
    assert [speakers[each.line] for each in (first, second)] == ["ann", "bob"]
    whole = read_audio(first.path, RATE)
    assert np.array_equal(read_audio(first.path, RATE, first.part), whole[RATE // 2 : RATE])
    assert len(OnTheFly(Corpus((first, second), RATE), MFCC).features(1)) == second.frames


def test_a_table_of_common_voice_is_read_as_it_is(folder: Path) -> None:
    write_wav(folder / "clips" / "x.mp3.wav", np.ones(8000, np.float32) * np.linspace(-0.5, 0.5, 8000, dtype="f4"))
    soundfile.write(folder / "clips" / "b.mp3", np.linspace(-0.5, 0.5, 16000), RATE)
    header = "client_id\tpath\tsentence\tage"
    table = write(folder / "cv.tsv", header, "ann\tb\tb a\tteens", "bob\tm/c.wav\tc\t", "eve\t\tc\t", 'x\tb.mp3\t"a')
    read_rows = list(read_files([table], None))
    assert [getattr(row, "path", "") for row in read_rows[:2]] == [f"{folder}/clips/b.mp3", f"{folder}/m/c.wav"]
    assert str(read_rows[2]) == f"{table}:4: no path"
    with pytest.raises(CorpusError, match="""transcript '"a'"""):  # a quote is a plain character
        read(table)
    assert dict(further_columns(str(table)))[2] == {"client_id": "ann", "age": "teens"}


def test_a_directory_of_kaldi_without_segments_has_whole_recordings(folder: Path) -> None:
    data = kaldi(folder / "data", segments=None)
    assert [(Path(each.path).name, each.part) for each in read(data)] == [("word.wav", None), ("talk.flac", None)]
    assert [each.source for each in read(data / "text")] == [f"{data}/text:2", f"{data}/text:1"]
    with pytest.raises(CorpusError, match="given twice"):
        read(data, data / "text")
    write(data / "wav.scp", "talk ../talk.flac", "word sox word.wav -t wav - speed 0.9 |")
    with pytest.raises(CorpusError, match=r"wav\.scp:2: a command that does more than decode"):
        read(data)


def test_times_that_cannot_be_used_are_named_with_their_line(folder: Path) -> None:
    rows = ["soon,1", "nan,1", "-1,2", "1,0", "1,-1", "5,1", "1,2.6", "2.99,0.4"]
    bad = parts_csv(folder, "bad", *(f"talk.flac,9,a,{row}" for row in rows), "talk.flac,9,a,1,2.4", "word.wav,9,a,,7")
    with pytest.raises(CorpusError) as error:
        read(bad)
    reasons = [
        "a start and a duration must be numbers, and not 'soon' and '1'",
        "a start and a duration must be numbers, and not nan and 1.0",
        "a part that starts 1 s before its recording",
        "a part of 0 seconds",
        "a part of -1 seconds",
        "a part beyond the end of its recording: 5.000 to 6.000 of 3.000 seconds",
        "a part that ends more than 0.5 seconds after its recording: 1.000 to 3.600 of 3.000 seconds",
        "a part shorter than 0.02 seconds: 2.990 to 3.390 of 3.000 seconds",
    ]
    lines = [f"{bad}:{line}: {folder}/talk.flac: {reason}" for line, reason in enumerate(reasons, start=2)]
    assert str(error.value).splitlines()[1:] == lines
    kept = read_corpus([bad], ALPHABET, MFCC, skip_bad_rows=True, progress=False)
    assert [(each.part, each.samples) for each in kept] == [(None, RATE // 2), (Part(1.0, 3.0), 2 * RATE)]


def test_lines_that_are_no_utterances_are_named(folder: Path) -> None:
    no_offset = '{"audio_filepath": "x", "text": "a", "offset": "b"}'
    half = r'{"audio_filepath": "x", "text": "a\ud800"}'
    end = '{"audio_filepath": "x", "text": "a", "start": 1, "end": "2"}'
    true = '{"audio_filepath": "x", "text": "a", "offset": 1, "duration": true}'
    manifest = write(folder / "a.json", "{", "7", '{"text": "a"}', no_offset, "[" * 100_000, half, end, true)
    with pytest.raises(CorpusError) as error:
        read(manifest)
    reasons = [line.removeprefix(f"{manifest}:") for line in str(error.value).splitlines()[1:]]
    assert [re.split(": [EmS]", reason)[0] for reason in reasons] == [
        "1: not JSON",
        "2: not a JSON object",
        "3: no audio_filepath: the keys are text",
        "4: an offset or duration that is not a number: 'b', None",
        "5: not JSON",
        r"6: a text that cannot be written as UTF-8: 'utf-8' codec can't encode character '\ud800' in position 1: "
        "surrogates not allowed",
        "7: an end that is not a number: '2'",
        "8: an offset or duration that is not a number: 1, True",
    ]
    data = kaldi(folder / "data", "u1 other 0 1\nu2 talk x 1\n")
    with pytest.raises(
        CorpusError, match=r"text:1: its recording is not in wav\.scp: other\n.*text:2: malformed times"
    ):
        read(data)
    table = write(folder / "a.tsv", "a\tsentence", "b\tc")
    with pytest.raises(CorpusError, match=r"a\.tsv:1: no column wav_filename; found: a, sentence"):
        read(table)
    write(table, "path\tsentence\tsentence", "word.wav\tc\ta")
    with pytest.raises(CorpusError, match=r"a\.tsv:1: more than one column sentence; found: path, sentence, sentence"):
        read(table)
    write(table, "path\tsentence", "word.wav\tc\ta")
    with pytest.raises(CorpusError, match=r"a\.tsv:2: 1 fields more than the header has columns"):
        read(table)


@pytest.mark.parametrize("ending", ["wav", "flac", "ogg", "mp3", "mp3 without a length"])
def test_a_part_sounds_as_the_clip_that_an_import_cuts(ending: str, tmp_path: Path) -> None:
    ending, _, damaged = ending.partition(" ")
    samples = np.sin(np.arange(4 * 22050) ** 1.3 / 500).astype(np.float32) * 0.5
    soundfile.write(tmp_path / f"talk.{ending}", np.stack([samples, samples / 2], axis=1), 22050)
    if damaged:
        path = tmp_path / "talk.mp3"
        path.write_bytes(path.read_bytes().replace(b"Xing", b"none").replace(b"Info", b"none"))
    row = {"audio_filepath": f"talk.{ending}", "text": "a", "offset": 2.2345, "duration": 1.5}
    write(tmp_path / "train.jsonl", json.dumps(row), json.dumps({**row, "offset": 10**400}))
    import_corpus("json_lines", tmp_path / "out", tmp_path, lambda _: None, Choices(split=(1, 0, 0)))
    (cut,), (part,) = (
        read_corpus([tmp_path / name], ALPHABET, MFCC, skip_bad_rows=True) for name in ("out/train.csv", "train.jsonl")
    )
    assert cut.part is None
    assert part.part is not None
    assert (cut.samples, cut.frames) == (part.samples, part.frames)
    of_part = read_audio(part.path, RATE, part.part)
    assert len(of_part) == part.samples
    assert np.abs(of_part - read_audio(cut.path, RATE)).max() < 1e-4  # the clip has 16 bits


def test_a_recording_is_decoded_once_for_all_its_parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"talk.flac,9,a,{start / 100},0.2" for start in range(200)]
    path = parts_csv(folder, "many", *rows)
    decoded = []

    def noted(path: str) -> AudioInfo:
        decoded.append(path)
        return inspect_audio(path)

    monkeypatch.setattr("deepspeech.util.checks.inspection.inspect_audio", noted)
    assert len(read(path)) == 200
    assert decoded == [f"{folder}/talk.flac"]


@pytest.mark.parametrize("ending", ["wav", "flac", "ogg"])
def test_a_part_in_which_nothing_was_recorded_is_named(ending: str, tmp_path: Path) -> None:
    samples = np.random.default_rng(1).uniform(-0.5, 0.5, 4 * RATE).astype(np.float32)
    samples[RATE : 2 * RATE] = 0
    write_wav(tmp_path / "talk.flac", samples)
    soundfile.write(tmp_path / f"talk.{ending}", samples, RATE)
    rows = [f"talk.{ending},9,a,{times}" for times in ("1.1,0.8", "0.5,1.4", "0,2", "3,")]
    with pytest.raises(CorpusError) as error:
        read(parts_csv(tmp_path, "train", *rows))
    assert str(error.value).splitlines()[1:] == [
        f"{tmp_path}/train.csv:2: {tmp_path}/talk.{ending}: silent: all its samples are the same"
    ]


def test_parts_of_one_recording_have_features_of_their_own_in_a_cache(folder: Path) -> None:
    one, other = (read(parts_csv(folder, "train", f"talk.flac,9,a,{start},0.5")) for start in (0.5, 1.5))
    features = []
    for corpus in (one, other, one):
        with open_feature_cache(folder / "cache.h5", corpus, MFCC, progress=False) as cache:
            features.append(cache.features(0))
    assert not np.array_equal(features[0], features[1])
    assert np.array_equal(features[0], features[2])


def test_sets_overlap_only_where_their_parts_do(folder: Path) -> None:
    train = read(parts_csv(folder, "train", "talk.flac,9,a,0,1", "talk.flac,9,b,1,1"))
    apart = read(parts_csv(folder, "apart", "talk.flac,9,a,2,1", "talk.flac,9,b,1.8,0.5"))
    assert overlap(train, apart) is None
    shared = overlap(train, read(parts_csv(folder, "test", "talk.flac,9,c,1.1,0.6", "talk.flac,9,c,,")))
    assert shared is not None
    assert shared.count == 2
    assert "talk.flac#t=1.000,2.000 and " in str(shared)


def test_a_list_of_rows_to_leave_out_can_name_a_part(folder: Path) -> None:
    train = parts_csv(folder, "train", "talk.flac,9,a,0,1", "talk.flac,9,b,1,1", "word.wav,9,c,,")
    left_out = write(folder / "part.csv", "wav_filename,start,duration", "talk.flac,1.0,1.0")
    data = kaldi(folder / "data")
    by_line = write(folder / "line.csv", "csv_file,line", "data,2")
    for list_file, lists, kept in ((left_out, [train], "ca"), (by_line, [data], ["a b"])):
        excluded = Exclusions.read([list_file])
        corpus = read_corpus(lists, ALPHABET, MFCC, progress=False, excluded=excluded)
        assert [each.transcript for each in corpus] == list(kept)
    whole = write(folder / "whole.csv", "wav_filename", "talk.flac")
    corpus = read_corpus([train], ALPHABET, MFCC, progress=False, excluded=Exclusions.read([whole]))
    assert [each.transcript for each in corpus] == ["c"]


def test_the_duration_of_a_whole_recording_cuts_nothing(folder: Path) -> None:
    path = folder / "imported.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[*HEADER.split(","), "speaker", "duration"], ["talk.flac", 9, "a", "ann", "1.0"]])
    (utterance,) = read(path)
    assert (utterance.part, utterance.samples) == (None, 3 * RATE)


def test_the_trainer_takes_each_format_for_its_sets(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    given = lists(folder)
    alphabet = write_alphabet(folder / "alphabet.txt", " abc")
    sets = [f"--train_files={given['kaldi']}", f"--dev_files={given['jsonl']}", f"--test_files={given['tsv']}"]
    options = parse([*sets, "--validation_step=1", f"--alphabet_config_path={alphabet}", "--noshow_progressbar"])
    assert options is not None
    inputs = read_inputs(options)
    assert {name.value: [each.transcript for each in corpus] for name, corpus in inputs.corpora.items()} == {
        name: ["a b", "c"] for name in ("train", "dev", "test")
    }
    warnings = [each.getMessage() for each in caplog.records if "shares" in each.getMessage()]
    assert len(warnings) == 3
    assert all("2 recordings (such as" in text and "#t=" in text for text in warnings)


def test_folders_may_be_separated_as_on_windows_unless_a_name_has_a_backslash(folder: Path) -> None:
    for name in ("clips/a.wav", "clips/b.wav", "clips\\b.wav"):
        write_wav(folder / name, np.sin(np.arange(RATE)).astype(np.float32))
    rows = [(f"clips\\{name}.wav", name) for name in "abc"]
    write(folder / "w.csv", "wav_filename,transcript", *map(",".join, rows))
    write(folder / "w.tsv", "wav_filename\ttranscript", *map("\t".join, rows))
    write(folder / "w.json", *(json.dumps({"audio_filepath": path, "text": text}) for path, text in rows))
    for ending in ("csv", "tsv", "json"):
        found = [row.path for row in read_files([folder / f"w.{ending}"], None) if not isinstance(row, BadRow)]
        assert found == [f"{folder}/clips/a.wav", f"{folder}/clips\\b.wav", f"{folder}/clips\\c.wav"]
