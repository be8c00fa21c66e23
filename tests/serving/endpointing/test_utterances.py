"""An endless signal becomes utterances: no word is cut, lost or recognized twice."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from importlib import util
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from corpora import RATE, random_transcript, say

from deepspeech import Model
from deepspeech.errors import ModelError
from deepspeech.serving.endpointing import Endpoint, EndpointRules
from deepspeech.serving.endpointing.voice_activity import VoiceActivity, VoiceGate
from deepspeech.serving.transcripts import Transcript
from deepspeech.util.audio import read_audio
from deepspeech.util.figures.metrics import evaluate_transcript

RULES = EndpointRules(silence_after_words=0.5, silence_without_words=2.0, longest_utterance=20.0)
Samples = npt.NDArray[np.int16]
Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Joined:
    """Recordings with pauses of quiet noise between them, with the text, beginning and end of each recording."""

    samples: Samples
    spoken: list[tuple[str, float, float]]

    @property
    def pauses(self) -> list[tuple[float, float]]:
        return [(before[2], after[1]) for before, after in pairwise(self.spoken)]


@pytest.fixture(scope="module")
def joined() -> Joined:
    random = np.random.default_rng(5)
    parts: list[npt.NDArray[np.floating]] = []
    spoken, place = [], 0
    for _ in range(50):
        text = random_transcript(random)
        samples = say(text, random)
        pause = random.normal(0, 0.003, int(random.uniform(0.3, 3) * RATE))
        spoken.append((text, place / RATE, (place + len(samples)) / RATE))
        parts += [samples, pause]
        place += len(samples) + len(pause)
    return Joined(as_int16(np.concatenate(parts)), spoken)


def as_int16(signal: npt.NDArray[np.floating]) -> Samples:
    return (signal.clip(-1, 1) * 32767).astype(np.int16)


def utterances(
    model: Model, samples: Samples, chunk: int, rules: EndpointRules = RULES, *, partials: bool = False
) -> list[tuple[Endpoint | None, Transcript]]:
    stream = model.stream(endpointing=rules)
    found = []
    for start in range(0, len(samples), chunk):
        stream.feed(samples[start : start + chunk])
        while (endpoint := stream.endpoint()) is not None:
            following = stream.next_utterance()
            assert following.start == endpoint.seconds
            found.append((endpoint, stream.finish()))
            stream = following
        if partials:
            stream.partial()
    return [*found, (None, stream.finish())]


def test_recordings_with_pauses_are_heard_utterance_by_utterance(model: Model, joined: Joined) -> None:
    found = utterances(model, joined.samples, 1600)
    ends = [endpoint.seconds for endpoint, _ in found if endpoint is not None]
    assert {endpoint.reason for endpoint, _ in found if endpoint is not None} == {"silence"}
    assert not [end for end in ends for _, begin, stop in joined.spoken if begin < end < stop]
    for begin, stop in joined.pauses:
        if stop - begin >= 0.5:
            assert any(begin <= end <= stop for end in ends)
    words = [word for _, transcript in found for word in transcript.words]
    assert all(before.end <= after.start for before, after in pairwise(words))
    reference = " ".join(text for text, _, _ in joined.spoken)
    heard = " ".join(word.text for word in words)
    assert evaluate_transcript(reference, heard).word_edits <= cut_in_pauses(model, joined, reference) + 2
    assert utterances(model, joined.samples, 7777) == found


def cut_in_pauses(model: Model, joined: Joined, reference: str) -> int:
    """Return the word errors of the recordings if each is cut out in the middle of the pauses around it."""
    middles = [0.0, *((begin + end) / 2 for begin, end in joined.pauses), len(joined.samples) / RATE]
    texts = [model.stt(joined.samples[int(start * RATE) : int(end * RATE)]) for start, end in pairwise(middles)]
    return evaluate_transcript(reference, " ".join(texts)).word_edits


def test_speech_without_pauses_ends_between_words(model: Model) -> None:
    random = np.random.default_rng(8)
    words = [random_transcript(random).split()[0] for _ in range(30)]
    samples = as_int16(say(" ".join(words), random))
    found = utterances(model, samples, 4000, EndpointRules(longest_utterance=4.0))
    ends = [0.0, *(endpoint.seconds for endpoint, _ in found if endpoint is not None)]
    assert len(ends) >= 3 and all(2.5 < after - before <= 4.01 for before, after in pairwise(ends))
    whole = evaluate_transcript(" ".join(words), model.stt(samples)).word_edits
    heard = " ".join(transcript.text for _, transcript in found)
    assert evaluate_transcript(" ".join(words), heard).word_edits <= whole + len(ends)


def test_confidences_do_not_depend_on_how_much_audio_comes_with_the_end(model: Model) -> None:
    random = np.random.default_rng(8)
    samples = as_int16(say(" ".join(random_transcript(random).split()[0] for _ in range(30)), random))
    rules = EndpointRules(longest_utterance=0.1)
    assert utterances(model, samples, 1600, rules) == utterances(model, samples, len(samples), rules)


def test_what_is_said_last_is_heard_where_the_longest_utterance_ends_shortly_before(model: Model) -> None:
    random = np.random.default_rng(8)
    samples = as_int16(say(" ".join(random_transcript(random).split()[0] for _ in range(30)), random))[: 4 * RATE]
    rows_of_context_and_of_a_run = 9 + 16
    for rows in range(0, rows_of_context_and_of_a_run, 2):
        rules = EndpointRules(longest_utterance=4.0 - 0.02 * rows)
        found = utterances(model, samples, 1600, rules)
        heard = " ".join(transcript.text for _, transcript in found)
        assert heard.split()[-1] == model.stt(samples).split()[-1]
        assert found == utterances(model, samples, 1600, rules, partials=True)
        assert found == utterances(model, samples, len(samples), rules)


def test_silence_is_not_kept(model: Model) -> None:
    noise = as_int16(np.random.default_rng(0).normal(0, 0.003, 9 * RATE))
    found = utterances(model, noise, 3200)
    assert len(found) >= 4 and not any(transcript.words for _, transcript in found)
    patient = utterances(model, noise, 3200, EndpointRules(silence_after_words=30.0, silence_without_words=2.0))
    assert 4 <= len(patient) <= 9 and not any(transcript.words for _, transcript in patient)


def test_utterances_do_not_copy_the_audio_that_is_still_to_come(model: Model) -> None:
    hour = np.zeros(3600 * RATE, np.float32)
    recognition = model.recognition(RULES)
    recognition.feed(hour)
    for _ in range(5):
        assert recognition.endpoint() is not None
        tracemalloc.start()
        recognition = recognition.following()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < hour.nbytes / 10


def test_streams_of_the_published_interface_end_alike(model: Model, joined: Joined) -> None:
    samples = joined.samples[: 12 * RATE]
    stream = model.createStream(RULES)
    stream.feedAudioContent(samples)
    (endpoint, first), (_, second), *_ = utterances(model, samples, 1600)
    assert stream.endpoint() == endpoint
    following = stream.nextStream()
    assert (stream.finishStream(), following.finishStream()) == (first.text, second.text)
    assert model.createStream().endpoint() is None and model.stream().endpoint() is None


def test_times_of_the_published_interface_count_from_the_first_stream(model: Model, joined: Joined) -> None:
    stream = model.createStream(RULES)
    stream.feedAudioContent(joined.samples[: 12 * RATE])
    endpoint = stream.endpoint()
    assert endpoint is not None
    following = stream.nextStream()
    before = stream.finishStreamWithMetadata().transcripts[0].tokens
    told = following.intermediateDecodeWithMetadata().transcripts[0].tokens
    after = following.finishStreamWithMetadata().transcripts[0].tokens
    assert before[-1].start_time < endpoint.seconds <= after[0].start_time and told[0] == after[0]
    for token in after:
        assert token.start_time == pytest.approx(token.timestep * model.step_seconds)


def test_without_rules_the_next_utterance_begins_after_all_that_was_fed(model: Model, joined: Joined) -> None:
    samples = joined.samples[: 3 * RATE]
    stream = model.stream()
    for end in (RATE, 2 * RATE):
        stream.feed(samples[end - RATE : end])
        stream = stream.next_utterance()
        assert stream.start == end / RATE
    stream.feed(samples)
    alone = model.transcribe(samples).words
    assert alone and [word.start for word in stream.finish().words] == pytest.approx([word.start + 2 for word in alone])


def test_the_network_rests_until_there_is_a_voice(model: Model, shared: Path) -> None:
    if find_spec("silero_vad") is None or find_spec("onnxruntime") is None:
        pytest.skip("silero-vad and onnxruntime are not installed")
    voice = VoiceActivity()
    spoken = read_audio(sorted((shared / "data/an4/wav/an4_clstk").rglob("*.flac"))[0], RATE)
    silence = np.random.default_rng(0).normal(0, 0.001, 5 * RATE).astype(np.float32)
    signal = np.concatenate([silence, spoken])
    gate = VoiceGate(voice, RATE)
    pieces = [gate.feed(signal[start : start + 1000]) for start in range(0, len(signal), 1000)]
    dropped = sum(count for _, count in pieces)
    assert 3.5 * RATE < dropped < 6 * RATE
    np.testing.assert_array_equal(np.concatenate([piece for piece, _ in pieces]), signal[dropped:])
    stream = model.stream(RULES, voice)
    stream.feed(as_int16(silence))
    assert stream.endpoint() is None and stream.start > 3.5
    with pytest.raises(ModelError, match="8000 or 16000 Hz"):
        VoiceGate(voice, 11_025)


class Loudness(VoiceActivity):
    """Treats loud audio as voice."""

    def __init__(self) -> None:
        pass

    def probability(self, window: Array, state: Array, rate: int) -> tuple[float, Array]:  # noqa: ARG002 - any is heard
        return float(np.abs(window).max() > 0.1), state


def test_the_times_of_what_follows_count_silence_that_waits_for_a_voice(model: Model) -> None:
    stream = model.stream(RULES, Loudness())
    for number in range(1, 6):
        stream.feed(np.zeros(RATE // 4, np.int16))
        stream = stream.next_utterance()
        assert stream.start == number / 4
    stream.feed(np.zeros(RATE, np.int16))
    assert 1.25 < stream.start < 2.25
    stream.feed(as_int16(np.full(RATE, 0.5)))
    assert stream.next_utterance().start == 3.25


def test_a_detector_without_rules_is_refused_as_it_would_have_no_effect(model: Model) -> None:
    with pytest.raises(ModelError, match="give EndpointRules"):
        model.stream(voice_activity=Loudness())


def test_a_missing_detector_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == "silero_vad" else find_spec(name))
    with pytest.raises(ModelError, match=r"silero_vad.*\[voice_activity\]' in a checkout or .*whl\[voice_activity\]'"):
        VoiceActivity()
