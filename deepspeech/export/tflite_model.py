"""Models for LiteRT (TensorFlow Lite), in the layout of the clients of Coqui STT 1 and of DeepSpeech 0.9 for `.tflite`.

The clients run parts of the graph, and crash if an operator is not as they expect: see `_add_metadata`. Only operators
and versions of TensorFlow 2.3 are used.
"""

from __future__ import annotations

import numpy as np

from .. import __version__
from ..options import ExportOptions
from ..util.features import FeatureOptions
from ..util.front_ends.mfcc import FILTERS, LOWEST_FREQUENCY
from .formats import TrainedModel, check_tflite
from .metadata import graph_metadata
from .tflite_file import TFLiteFile
from .tflite_network import add_network

ALPHABET = "metadata_alphabet"


def serialized(model: TrainedModel, options: ExportOptions) -> bytes:
    """Return the file of a model.

    Inputs are `input_samples` float32 [window] and those of `add_network`; outputs are `mfccs` float32
    [1, coefficients], those of `add_network`, and the metadata, int32 [1] or a string [1]. With `options.quantize`,
    the weights of inner layers are int8. Raise ExportError for a network that is not in the format.
    """
    check_tflite(model.network)
    file = TFLiteFile()
    if model.features.published:
        _add_features(file, model.features)
    add_network(file, model, options)
    _add_metadata(file, model, options)
    return file.serialized(f"deepspeech {__version__}")


def _add_metadata(file: TFLiteFile, model: TrainedModel, options: ExportOptions) -> None:
    """Add the metadata that clients read after everything else.

    A client runs one operator for each item that it reads, so each item has exactly one. Then it runs features and
    network with the remaining operators, and expects that all are prepared. But the runtime prepares no operator after
    one whose output has no fixed size, as strings do. So the alphabet comes last, and items that no client reads have
    no operator.
    """
    told = graph_metadata(model, options)
    texts = {name: value for name, value in told.items() if isinstance(value, bytes)}
    alphabet = texts.pop(ALPHABET)
    for name, text in texts.items():
        file.add_output(file.text(name, text))
    for name, number in told.items():
        if isinstance(number, int):
            value = file.constant(f"{name}/value", np.array([number], np.int32))
            file.add_output(file.reshape(value, name, [1], np.int32))
    file.add_output(file.reshape(file.text(f"{ALPHABET}/value", alphabet), ALPHABET, [1], bytes))


def _add_features(file: TFLiteFile, options: FeatureOptions) -> None:
    """Add the MFCCs of one window, with LiteRT's operators for TensorFlow's."""
    samples = file.add_input("input_samples", [options.window])
    spectrogram = file.add_custom(
        "AudioSpectrogram",
        [file.reshape(samples, "samples", [options.window, 1])],
        "spectrogram",
        [1, 1, options.fft_size // 2 + 1],
        {"window_size": options.window, "stride": options.step, "magnitude_squared": True},
    )
    coefficients = file.add_custom(
        "Mfcc",
        [spectrogram, file.constant("sample_rate", np.array([options.sample_rate], np.int32))],
        "coefficients",
        [1, 1, options.coefficients],
        {
            "upper_frequency_limit": options.sample_rate / 2,
            "lower_frequency_limit": LOWEST_FREQUENCY,
            "filterbank_channel_count": FILTERS,
            "dct_coefficient_count": options.coefficients,
        },
    )
    file.add_output(file.reshape(coefficients, "mfccs", [1, options.coefficients]))
