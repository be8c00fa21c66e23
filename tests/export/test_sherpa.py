"""Models for sherpa-onnx, run by the published package."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from untrained import ALPHABET, FBANK, frozen, signal, untrained

from deepspeech.errors import ExportError
from deepspeech.export.formats import FORMATS, TrainedModel
from deepspeech.export.sherpa_model import tokens
from deepspeech.options import ExportOptions
from deepspeech.serving.engine import Engine
from deepspeech.serving.feature_windows import ModelFeatures
from deepspeech.util.features import FeatureOptions
from deepspeech.util.output_units import ByteAlphabet
from deepspeech.util.text import Alphabet

sherpa_onnx = pytest.importorskip("sherpa_onnx")

SHERPA = FORMATS["sherpa"]
MODELS: dict[str, tuple[dict[str, Any], FeatureOptions]] = {
    "lstm": ({"network": "lstm", "lstm_layers": 1}, replace(FBANK, normalization="running")),
    "conformer": ({"network": "conformer", "conformer_layers": 1, "attention_heads": 2, "attention_chunk": 4}, FBANK),
    "lstm_in_shifted_chunks": (
        {"network": "lstm", "lstm_layers": 2, "lstm_chunk": 4, "lstm_chunk_offset": 2},
        replace(FBANK, normalization="running"),
    ),
    "bidirectional": (
        {"network": "lstm", "lstm_layers": 1, "bidirectional": True},
        replace(FBANK, normalization="utterance"),
    ),
}


def likeliest(model: TrainedModel, samples: npt.NDArray[np.float32]) -> str:
    """Return the text of the most likely label of each row."""
    of_engine = frozen(model)
    best = Engine(of_engine).posteriors(ModelFeatures(of_engine.info).windows_of(samples)).argmax(axis=1)
    kept = best[np.concatenate([[True], best[1:] != best[:-1]])]
    return model.alphabet.decode(kept[kept < model.alphabet.size])


@pytest.mark.parametrize("name", MODELS)
def test_sherpa_onnx_hears_the_same(name: str, tmp_path: Path) -> None:
    model = untrained(*MODELS[name])
    files = SHERPA.files(model, ExportOptions())
    for file, content in files.items():
        (tmp_path / file).write_bytes(content)
    named = {"tokens": str(tmp_path / "tokens.txt"), "feature_dim": 20}
    signals = [signal(samples) for samples in (24_013, 16_000, 5000)]
    recognizer = sherpa_onnx.OfflineRecognizer.from_zipformer_ctc(model=str(tmp_path / "model.onnx"), **named)
    streams = [recognizer.create_stream() for _ in signals]
    for stream, samples in zip(streams, signals, strict=True):
        stream.accept_waveform(16_000, samples)
    recognizer.decode_streams(streams)
    expected = [likeliest(model, samples) for samples in signals]
    assert all(map(str.strip, expected))
    assert [stream.result.text.strip() for stream in streams] == [text.strip() for text in expected]
    silent = recognizer.create_stream()
    recognizer.decode_stream(silent)
    assert silent.result.text == ""
    assert ("model-streaming.onnx" in files) == (name != "bidirectional")
    if name == "bidirectional":
        return
    online = sherpa_onnx.OnlineRecognizer.from_zipformer2_ctc(model=str(tmp_path / "model-streaming.onnx"), **named)
    live = [online.create_stream() for _ in signals]
    for place, (stream, samples) in enumerate(zip(live, signals, strict=True)):
        for start in range(0, len(samples), 1000 + place):
            stream.accept_waveform(16_000, samples[start : start + 1000 + place])
            while online.is_ready(stream):
                online.decode_stream(stream)
    for stream in live:
        stream.accept_waveform(16_000, np.zeros(16_000, np.float32))
    while ready := [stream for stream in live if online.is_ready(stream)]:
        online.decode_streams(ready)
    for stream, samples in zip(live, signals, strict=True):
        text = online.get_result(stream).strip()
        whole = likeliest(model, np.concatenate([samples, np.zeros(16_000, np.float32)]))
        assert text
        assert whole.strip().startswith(text)


def test_tokens_name_the_labels_and_the_blank() -> None:
    assert tokens(ALPHABET) == "\u2581 0\na 1\nb 2\nc 3\nd 4\ne 5\n<blk> 6\n"
    with pytest.raises(ExportError, match="--output_unit=bytes: sherpa-onnx writes characters and word pieces"):
        tokens(ByteAlphabet())
    with pytest.raises(ExportError, match="label '<blk>' has no name"):
        tokens(Alphabet(("a", "<blk>")))
    with pytest.raises(ExportError, match="label 'SIL' is left out of texts by sherpa-onnx"):
        tokens(Alphabet(("UTEN", "SIL")))


def test_features_that_sherpa_onnx_does_not_compute_are_refused() -> None:
    SHERPA.check_features(FBANK)
    with pytest.raises(ExportError, match="--feature_type=audio_ops: sherpa-onnx computes fbank"):
        SHERPA.check_features(FeatureOptions())
    with pytest.raises(ExportError, match="--feature_win_len=32, --feature_win_step=20: sherpa-onnx computes windows"):
        SHERPA.check_features(replace(FBANK, window_ms=32, step_ms=20))
