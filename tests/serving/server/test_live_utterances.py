"""Utterances of one speaker's audio: their ends, the confidences of their words, and the stable part of partials."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import soundfile
from serving_in_thread import Samples, loaded, of_kind, rest, samples_of, say, serving, tell

from deepspeech import Model
from deepspeech.errors import ModelError
from deepspeech.serving.endpointing import EndpointRules
from deepspeech.serving.server.live.protocol import Event, Final, Partial, Start
from deepspeech.serving.server.models import Models
from deepspeech.serving.server.options import Limits, ServedModel
from deepspeech.serving.server.utterances import Utterances

RATE = 16_000
PIECE = 3200
"""Bytes of 0.1 s."""
FRAME = 0.02
"""Seconds by which a word may begin before its samples, as its times are whole frames."""


@pytest.fixture(scope="module")
def scored(graph_file: Path, scorer_file: Path) -> Model:
    model = Model(graph_file)
    model.enableExternalScorer(scorer_file)
    return model


@pytest.fixture(scope="module")
def speech(recordings: list[Path]) -> list[Samples]:
    return [samples_of(path) for path in recordings[:3]]


def heard(utterances: Utterances, samples: Samples) -> list[Event]:
    audio = samples.astype("<i2").tobytes()
    return [event for start in range(0, len(audio), PIECE) for event in utterances.hear(audio[start : start + PIECE])]


def quiet(seconds: float) -> Samples:
    return np.random.default_rng(3).normal(0, 20, int(seconds * RATE)).astype(np.int16)


def test_pauses_end_utterances_whose_times_go_on(model: Model, speech: list[Samples]) -> None:
    utterances = Utterances(model, RATE, EndpointRules(silence_after_words=0.6))
    joined = np.concatenate([part for spoken in speech for part in (spoken, quiet(1.5))])
    finals = [event for event in heard(utterances, joined) if isinstance(event, Final)]
    heard_at_once = model.transcribe(joined).text.split()
    assert "".join("".join(final.transcripts[0].text.split()) for final in finals) == "".join(heard_at_once)
    assert [(final.utterance, final.reason) for final in finals] == [(0, "silence"), (1, "silence"), (2, "silence")]
    begin = 0.0
    for final, spoken in zip(finals, speech, strict=True):
        end = begin + len(spoken) / RATE
        words = final.transcripts[0].words
        assert begin - FRAME <= words[0].start and words[-1].end <= end + 0.1
        assert final.start <= words[0].start and words[-1].end <= final.end <= end + 1.5
        begin = end + 1.5


def test_words_are_sure_between_0_and_1_and_the_last_of_a_partial_is_open(model: Model, speech: list[Samples]) -> None:
    utterances = Utterances(model, RATE, EndpointRules())
    partials = [event for event in heard(utterances, np.concatenate(speech)) if isinstance(event, Partial)]
    (final,) = utterances.finish()
    assert isinstance(final, Final)
    best = final.transcripts[0]
    assert best.confidence is not None and 0 <= best.confidence <= 1
    assert all(word.confidence is not None and 0 <= word.confidence <= 1 for word in best.words)
    for partial in partials:
        *done, last = partial.words
        assert all(word.confidence is not None for word in done) and last.confidence is None
        assert partial.stable < len(partial.words)
        assert [word.text for word in partial.words] == partial.text.split()


def test_what_starts_utterances_is_for_all_that_follow(scored: Model, speech: list[Samples]) -> None:
    utterances = Utterances(scored, RATE, EndpointRules())
    utterances.begin_with(Start(hot_words={"a": 5.0}, beam_width=8, n_best=3, partials=False))
    for number in range(2):
        assert heard(utterances, speech[0]) == []
        (final,) = utterances.finish()
        assert isinstance(final, Final) and final.utterance == number
        assert 1 < len(final.transcripts) <= 3
    utterances.begin_with(Start())
    assert heard(utterances, speech[0])
    (final,) = utterances.finish()
    assert isinstance(final, Final) and len(final.transcripts) == 1
    assert final.start == pytest.approx(2 * len(speech[0]) / RATE, abs=0.002)


def test_hot_words_without_a_language_model_are_refused_and_change_nothing(model: Model, speech: list[Samples]) -> None:
    utterances = Utterances(model, RATE, EndpointRules())
    with pytest.raises(ModelError, match="scorer"):
        utterances.begin_with(Start(hot_words={"a": 1.0}))
    assert heard(utterances, speech[0])


def test_audio_without_words_tells_nothing_but_is_counted(model: Model) -> None:
    utterances = Utterances(model, RATE, EndpointRules(silence_without_words=1.0))
    assert heard(utterances, np.zeros(4 * RATE, np.int16)) == []
    assert utterances.silent_seconds == pytest.approx(4.0, abs=0.2) == utterances.seconds


def test_silence_is_counted_where_the_client_ends_utterances_in_it(model: Model) -> None:
    utterances = Utterances(model, RATE, EndpointRules())
    for second in range(1, 4):
        (final,) = utterances.hear(bytes(2 * RATE), partial=False) + utterances.finish()
        assert isinstance(final, Final) and not final.transcripts[0].text
        assert utterances.silent_seconds == second


def test_an_utterance_that_the_resampler_still_holds_is_in_progress(model: Model) -> None:
    utterances = Utterances(model, 44_100, EndpointRules())
    assert not utterances.hear(b"") and not utterances.in_progress
    assert not utterances.hear(bytes(200)) and utterances.in_progress
    utterances.finish()
    assert utterances.seconds == pytest.approx(100 / 44_100, abs=1e-4) and not utterances.in_progress


def test_half_a_sample_at_the_end_of_an_utterance_is_left_out_with_a_warning(
    graph_file: Path, speech: list[Samples], model: Model
) -> None:
    with serving(loaded(graph_file)) as server, server.stream() as stream:
        for spoken, further in zip(speech, (b"\1", b"", b""), strict=True):
            say(stream, spoken)
            stream.send(further)
            tell(stream, "finish")
        tell(stream, "close")
        messages = rest(stream)
    assert [final["text"] for final in of_kind(messages, "final")] == [model.transcribe(each).text for each in speech]
    (warning,) = of_kind(messages, "warning")
    assert warning["code"] == "half_sample" and "odd number of bytes" in warning["message"]


def test_a_recording_that_is_sent_instead_of_its_samples_is_refused_or_warned_of(
    graph_file: Path, speech: list[Samples]
) -> None:
    encoded = {"webm": b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81", "mp4": b"\0\0\0\x20ftypisom"}
    for form in ("OGG", "MP3", "WAV"):
        file = BytesIO()
        soundfile.write(file, speech[0], RATE, format=form)
        encoded[form] = file.getvalue()
    header, audio = encoded["WAV"][:44], encoded.pop("WAV")[44:]
    with serving(loaded(graph_file)) as served:
        for form, recording in encoded.items():
            with served.stream() as stream:
                stream.send(recording[: 32 << 10])
                (error,) = of_kind(rest(stream), "error")
            assert (error["code"], stream.close_code) == ("not_samples", 1008), form
            assert "send 16-bit little-endian samples of one channel" in error["message"]
        with served.stream() as stream:
            stream.send(header)
            stream.send(audio)
            tell(stream, "close")
            messages = rest(stream)
    assert [warning["code"] for warning in of_kind(messages, "warning")] == ["wav_header"]
    assert of_kind(messages, "final")[0]["text"]


def test_a_silence_that_ends_a_stream_takes_no_words_with_it(
    graph_file: Path, speech: list[Samples], model: Model
) -> None:
    spoken = np.concatenate([speech[0], np.zeros(3 * RATE, np.int16)])
    limits, endless = Limits(max_silence_seconds=1), EndpointRules(silence_after_words=0)
    with serving(loaded(graph_file), limits, endpoints=endless) as server, server.stream() as stream:
        say(stream, spoken)
        *messages, last = rest(stream)
    assert [final["text"] for final in of_kind(messages, "final")] == [model.transcribe(speech[0]).text]
    assert last["code"] == "silence" and stream.close_code == 1000


def test_words_that_only_a_final_has_end_the_silence(model: Model, speech: list[Samples]) -> None:
    utterances = Utterances(model, RATE, EndpointRules())
    for _ in range(2):  # like a client that sends the end of an utterance together with its words
        heard(utterances, np.zeros(RATE, np.int16))
        assert utterances.silent_seconds == pytest.approx(1)
        (final,) = utterances.hear(speech[0].tobytes(), partial=False) + utterances.finish()
        assert isinstance(final, Final) and final.transcripts[0].text
        assert utterances.silent_seconds == 0


def test_a_model_whose_rate_the_voice_detector_does_not_know_is_refused_before_it_is_served(
    graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deepspeech.serving.endpointing.voice_activity.RATES", (8000, 22_050))
    served = [ServedModel("tiny", graph_file)]
    with pytest.raises(ModelError, match=r"output_graph\.pb: --voice_activity: .* of 8000 or 22050 Hz, but"):
        Models(served, voice_activity=True)
    assert Models(served).named("tiny").streams
