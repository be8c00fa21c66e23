"""`deepspeech --format csv` lists what a model hears in recordings, for training on them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from corpora import CHARACTER_SECONDS, RATE, TinyCorpus, say, write_wav

from deepspeech import Model
from deepspeech.cli.transcribe import main as transcribe
from deepspeech.cli.utterances.training_list import TrainingList
from deepspeech.serving.batching.recordings import Recognized
from deepspeech.serving.transcripts import TimedWord, Transcript
from deepspeech.util.corpus import read_corpus
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.text import Alphabet

SILENCE = np.zeros(RATE, np.float32)
SAID = ("cab bed", "ad")
BEGINS = (1.06, 2.18 + 7 * CHARACTER_SECONDS)
"""When two texts are said in the recording, in seconds; each has a silence of 0.06 s before and after."""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording of two texts with a second of silence before each of them and at the end."""
    random = np.random.default_rng(3)
    spoken = [SILENCE, say(SAID[0], random), SILENCE, say(SAID[1], random), SILENCE]
    return write_wav(tmp_path_factory.mktemp("recordings") / "two.wav", np.concatenate(spoken))


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(graph_file: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs the command, for a list; it returns the exit code, the list and the messages."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = transcribe(["--model", str(graph_file), "--format", "csv", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def rows_of(listed: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(listed, newline="")))


def test_what_is_said_between_pauses_is_listed_where_it_is_said_and_can_be_trained_on(
    run: Run, model: Model, recording: Path, tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    code, listed, messages = run("--audio", recording)
    assert code == 0, messages
    rows = rows_of(listed)
    texts = [row["transcript"] for row in rows]
    assert " ".join(texts).split() == model.transcribe(recording).text.split()
    for row, begin, said in zip(rows, BEGINS, SAID, strict=True):
        end = begin + len(said) * CHARACTER_SECONDS
        assert begin - 0.4 < float(row["start"]) < begin
        assert end < float(row["start"]) + float(row["duration"]) < end + 0.4
        assert 0 < float(row["confidence"]) <= 1
    (tmp_path / "list.csv").write_text(listed)
    features = front_end(FeatureOptions(feature_type="psf"))
    read = read_corpus([tmp_path / "list.csv"], Alphabet.load(tiny_corpus.alphabet), features)
    assert sorted(each.transcript for each in read) == sorted(texts)


def test_what_is_no_text_is_left_out_and_counted() -> None:
    output = io.StringIO()
    listed = TrainingList(output, 0.0)
    words = TimedWord("\ufffd\u0e01", 0.5, 1.0, 0.9), TimedWord("\u0e01", 2.0, 2.5, 0.9)
    listed.add("a.wav", Recognized([(0.0, [Transcript("\ufffd\u0e01 \u0e01", words, 0.0)])]))
    assert [row["transcript"] for row in rows_of(output.getvalue())] == ["\u0e01"]
    assert str(listed).startswith("listed 1 of 2 utterances")


def test_utterances_with_a_word_of_low_confidence_are_left_out_and_counted(run: Run, recording: Path) -> None:
    both = rows_of(run("--audio", recording)[1])
    lowest, highest = sorted(float(row["confidence"]) for row in both)
    code, listed, messages = run("--audio", recording, "--min_confidence", (lowest + highest) / 2)
    assert code == 0
    assert rows_of(listed) == [row for row in both if float(row["confidence"]) == highest]
    assert messages.startswith("deepspeech: listed 1 of 2 utterances, 0.0 of 0.0 minutes")


def test_every_recording_of_a_folder_is_in_the_list_or_named_as_unreadable(
    run: Run, recording: Path, tmp_path: Path
) -> None:
    (tmp_path / "a,b").mkdir()
    (tmp_path / "a,b/two.wav").write_bytes(recording.read_bytes())
    (tmp_path / "broken.wav").write_bytes(b"RIFF")
    write_wav(tmp_path / "silence.wav", SILENCE)
    code, listed, messages = run("--audio", tmp_path)
    assert code == 1
    assert "broken.wav" in messages
    assert {row["wav_filename"] for row in rows_of(listed)} == {str(tmp_path / "a,b/two.wav")}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["-"], "--format=csv: prints one list of parts of recordings, and cannot be combined with a pipe"),
        (["two.wav", "--output_dir", "out"], "--format=csv: prints one list"),
        (["two.wav", "--channels", "apart"], "--format=csv: prints one list"),
        (["two.wav", "--json"], "--json: prints JSON, and --format=csv a list; give one of the two"),
        (["two.wav", "--min_confidence", "0.9", "--low_confidence", "drop"], "--low_confidence: without effect"),
    ],
)
def test_what_a_list_cannot_have_is_refused(run: Run, given: list[str], told: str) -> None:
    code, _, messages = run("--audio", *given)
    assert code == 1
    assert messages.startswith(f"deepspeech: {told}")
