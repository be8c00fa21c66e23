"""Pictures of the network's input: the features and spectrograms of some utterances, as PNG."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from ...util.audio import read_audio
from ...util.errors import DeepSpeechError
from ..data_set import DataSet

v1 = tf.compat.v1

UTTERANCES_SHOWN = 3

ENLARGEMENT = 4
"""Pixels: the width of a window or frame, and the height of a coefficient."""

WINDOW_SECONDS, STEP_SECONDS = 0.032, 0.02
"""The windows of a spectrogram."""

DYNAMIC_RANGE = 8.0
"""The range of a spectrogram below the loudest value, as a natural logarithm of power: 35 dB."""

Image = tuple[bytes, int, int]
"""A grey picture: PNG, height and width in pixels. Time increases to the right, frequency upwards."""


def feature_images(data_set: DataSet) -> Iterator[tuple[str, Image]]:
    """Yield the names and pictures of some utterances' spectrograms and features, from short ones to long ones.

    A recording that cannot be read is skipped: the epoch reports its error.
    """
    corpus = data_set.corpus
    shown = {len(corpus) * place // (UTTERANCES_SHOWN + 1) for place in range(1, UTTERANCES_SHOWN + 1)}
    for number, index in enumerate(sorted(shown), 1):
        try:
            samples = read_audio(corpus[index].path, corpus.sample_rate, corpus[index].part)
            batch = data_set.feeder.batch(data_set.feeder.cut.index_of(index))
        except (DeepSpeechError, OSError):
            continue
        if corpus[index] not in batch.utterances:
            continue
        row = list(batch.utterances).index(corpus[index])
        features = batch.features[row, : batch.lengths[row]]
        yield f"train/spectrogram/{number}", _picture(log_spectrogram(samples, corpus.sample_rate))
        yield f"train/features/{number}", _picture(_normalized(features).repeat(ENLARGEMENT, axis=1))


def log_spectrogram(samples: npt.NDArray[np.float32], sample_rate: int) -> npt.NDArray[np.float32]:
    """Return the logarithm of the power of samples, float32 [windows, frequencies]; the loudest is 0."""
    size, step = int(WINDOW_SECONDS * sample_rate), int(STEP_SECONDS * sample_rate)
    padded = np.pad(samples, (0, max(size - len(samples), 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)[::step]
    power = np.abs(np.fft.rfft(windows * np.hanning(size))) ** 2
    power = np.maximum(power / max(power.max(), 1e-20), np.exp(-DYNAMIC_RANGE))
    logarithms: npt.NDArray[np.float32] = np.log(power).astype(np.float32)
    return logarithms


def _normalized(features: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return features [frames, coefficients], each coefficient with mean 0 and deviation 1, clipped at 3."""
    deviation = np.maximum(features.std(axis=0), 1e-6)
    normalized: npt.NDArray[np.float32] = np.clip((features - features.mean(axis=0)) / deviation, -3, 3)
    return normalized


def _picture(values: npt.NDArray[np.float32]) -> Image:
    """Return values [time, height] as a picture: the lowest are black, the highest white."""
    span = max(float(values.max() - values.min()), 1e-6)
    grey = np.rint(255 * (values - values.min()) / span).astype(np.uint8).T[::-1]
    grey = grey.repeat(ENLARGEMENT, axis=1)
    with tf.Graph().as_default(), v1.Session() as session:
        png: bytes = session.run(tf.io.encode_png(grey[:, :, None]))
    return png, *grey.shape
