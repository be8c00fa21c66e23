"""Audio in every form that DeepSpeech 0.9.3 accepted, and long audio."""

from __future__ import annotations

import io
import tracemalloc
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from deepspeech import Model
from deepspeech.errors import SamplesError, SamplesShapeError, SamplesTypeError
from deepspeech.serving.arguments.samples import as_samples, checked_signal


def test_audio_is_taken_in_every_form_of_16_bit_samples(model: Model, recordings: list[Path]) -> None:
    spoken = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])
    text = model.stt(spoken)
    raw = spoken.astype("<i2").tobytes()
    buffer: Any = spoken
    forms: list[Any] = [
        *(spoken.tolist(), tuple(spoken.tolist()), list(spoken), array("h", spoken.tolist())),
        *(memoryview(buffer), memoryview(array("h", spoken.tolist())), spoken.astype(">i2"), np.repeat(spoken, 2)[::2]),
        *(raw, bytearray(raw), memoryview(raw)),
    ]
    for form in forms:
        np.testing.assert_array_equal(as_samples(form), spoken)
    assert model.stt(forms[0]) == text
    assert model.transcribe(raw).text == model.transcribe(array("h", spoken.tolist())).text == text
    stream = model.createStream()
    stream.feedAudioContent(forms[0][:4000])
    stream.feedAudioContent(raw[8000:])
    assert stream.finishStream() == text


def test_smaller_integers_are_samples_too() -> None:
    assert as_samples(np.array([1, 255], np.uint8)).tolist() == [1, 255]
    assert as_samples(np.array([-1, 5], np.int8)).dtype == np.int16
    assert as_samples([]).tolist() == as_samples(b"").tolist() == []
    samples = np.arange(9, dtype=np.int16)
    assert as_samples(samples) is samples


def test_signals_are_told_from_samples(model: Model, recordings: list[Path]) -> None:
    signal, spoken = (soundfile.read(recordings[0], dtype=kind)[0] for kind in ("float64", "int16"))
    assert model.candidates(signal)[0].text == model.candidates(signal.tolist())[0].text == model.stt(spoken)
    np.testing.assert_array_equal(model.posteriors(signal), model.posteriors(signal.astype(np.float32)))
    for compute in (model.candidates, model.posteriors):
        with pytest.raises(SamplesTypeError, match=r"a signal must be float32 .* in \[-1, 1\], not an array of int16"):
            compute(spoken)
        with pytest.raises(SamplesShapeError, match=r"a signal must be one channel .* shape \(4, 2\)"):
            compute(signal[:8].reshape(4, 2))


@pytest.mark.parametrize(
    ("value", "told"),
    [(np.nan, "is nan"), (-np.inf, "is inf"), (1e200, r"is 1e\+200; divide"), (20_000, "is 20000; divide")],
)
def test_a_number_that_is_no_sound_is_not_blamed_on_the_model(value: float, told: str, model: Model) -> None:
    signal: Any = np.zeros(8000)
    signal[4000] = value
    for compute in (model.candidates, model.posteriors):
        with pytest.raises(SamplesShapeError, match=rf"a signal must be .* but its highest magnitude {told}"):
            compute(signal)


@pytest.mark.parametrize("form", ["a.wav", Path("a.wav"), ["a.wav", "b.wav"], io.BytesIO(b"RIFF"), {"array": []}])
def test_what_is_no_array_is_refused_with_the_call_that_takes_files(form: Any) -> None:
    told = f"not a value of type {type(form).__name__}; transcribe takes the path of a file, transcribe_many a list"
    with pytest.raises(SamplesTypeError, match=told):
        as_samples(form)


@pytest.mark.parametrize("container", ["WAV", "FLAC", "OGG", "MP3"])
def test_the_bytes_of_a_file_are_not_samples(container: str, model: Model, recordings: list[Path]) -> None:
    file = io.BytesIO()
    soundfile.write(file, *soundfile.read(recordings[0]), format=container)
    for contents in (file.getvalue(), bytearray(file.getvalue()), file.getbuffer()):
        for recognize in (model.transcribe, model.stt, model.sttWithMetadata):
            with pytest.raises(SamplesTypeError, match="not the bytes of a recorded file; transcribe takes the path"):
                recognize(contents)


def test_floats_are_refused_with_what_makes_samples_of_them(model: Model, recordings: list[Path]) -> None:
    signal, spoken = (soundfile.read(recordings[0], dtype=kind)[0] for kind in ("float64", "int16"))
    with pytest.raises(SamplesTypeError, match="not an array of float64; of floats in") as found:
        model.transcribe(signal)
    expression = str(found.value).rpartition(" by ")[2]
    made = eval(expression, {"samples": signal, "numpy": np})
    assert made.dtype == np.int16 and np.abs(made - spoken).max() <= 1


NOT_SAMPLES: list[Any] = [
    None,
    "text",
    Path("a.wav"),
    {},
    object(),
    [None],
    ["a"],
    [0.5],
    [1 << 80],
    np.zeros(3),
    array("f", [1]),
    iter([]),
    np.zeros((2, 3)),
    [True, False],
]
ROUNDED: list[Any] = [np.zeros(3, bool), np.zeros(3, np.int32), np.zeros(3, np.uint16), array("i", [1]), [0.5, 1]]
NOT_ONE_SIGNAL: list[Any] = [
    *([[1, 2]], [[1], [2, 3]], b"odd", [40_000]),
    *(np.zeros((2, 3), np.int16), np.int16(3), 3, [[]]),
]


class OnDevice:
    """A tensor of another library in the memory of an accelerator."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("can't convert; use cpu() first")


def test_the_reason_why_a_tensor_gives_no_array_is_told() -> None:
    tensor: Any = OnDevice()
    for take in (as_samples, checked_signal):
        with pytest.raises(SamplesTypeError, match=r"not OnDevice: can't convert; use cpu\(\) first"):
            take(tensor)


def test_anything_else_is_refused() -> None:
    for audio in NOT_SAMPLES + ROUNDED + NOT_ONE_SIGNAL:
        with pytest.raises(SamplesError) as caught:
            as_samples(audio)
        assert isinstance(caught.value, TypeError | ValueError) and "\n" not in str(caught.value)
    for audio in NOT_SAMPLES + ROUNDED:
        with pytest.raises(SamplesTypeError):
            as_samples(audio)
    for audio in NOT_ONE_SIGNAL:
        with pytest.raises(SamplesShapeError):
            as_samples(audio)


def test_a_long_recording_takes_no_more_memory_than_its_features(model: Model, recordings: list[Path]) -> None:
    spoken = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])
    minutes = np.tile(spoken, 10 * 60 * 16_000 // len(spoken))
    stream = model.createStream()
    for start in range(0, len(minutes), 16_000):
        stream.feedAudioContent(minutes[start : start + 16_000])
    expected = stream.finishStream()
    tracemalloc.start()
    try:
        text = model.stt(minutes)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert text == expected
    assert peak < 60 << 20  # all features at once take 290 MB
