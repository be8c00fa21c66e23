"""An exported graph that ignores the audio and returns fixed posteriors.

With it, the published client's decoder can be compared with ours on the same posteriors.
"""

from __future__ import annotations

import os
import struct
import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

RATE = 16000
STEPS = 16


def serialize_alphabet(labels: Sequence[str | bytes]) -> bytes:
    """Return the labels as DeepSpeech's graphs hold them."""
    parts = [struct.pack("<H", len(labels))]
    for index, label in enumerate(labels):
        text = label if isinstance(label, bytes) else label.encode()
        parts.append(struct.pack("<HH", index, len(text)) + text)
    return b"".join(parts)


def write_graph(path: Path, posteriors: npt.NDArray[np.float32], labels: Sequence[str | bytes]) -> None:
    """Write a graph whose frames are `posteriors` [time, labels + 1], and then blanks.

    The state counts the frames; only operations that the published client has are used.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    v1 = tf.compat.v1
    blank = np.eye(len(labels) + 1, dtype=np.float32)[-1:]
    table = np.concatenate([posteriors, blank])
    with tf.Graph().as_default() as graph:
        samples = v1.placeholder(tf.float32, [512], "input_samples")
        spectrogram = tf.raw_ops.AudioSpectrogram(
            input=tf.expand_dims(samples, -1), window_size=512, stride=320, magnitude_squared=True
        )
        coefficients = tf.raw_ops.Mfcc(
            spectrogram=spectrogram, sample_rate=RATE, upper_frequency_limit=RATE / 2, dct_coefficient_count=26
        )
        tf.identity(tf.reshape(coefficients, [-1, 26]), "mfccs")
        v1.placeholder(tf.float32, [1, STEPS, 19, 26], "input_node")
        v1.placeholder(tf.int32, [1], "input_lengths")
        count = v1.placeholder(tf.float32, [1, 1], "previous_state_c")
        unused = v1.placeholder(tf.float32, [1, 1], "previous_state_h")
        begin = tf.reshape(tf.cast(count, tf.int32), [1, 1])
        frames = tf.minimum(tf.subtract(begin, tf.constant(-np.arange(STEPS, dtype=np.int32)[:, None])), len(table) - 1)
        tf.gather_nd(tf.constant(table), frames, name="logits")
        tf.subtract(count, tf.constant(-float(STEPS)), name="new_state_c")
        tf.identity(unused, "new_state_h")
        metadata = {"version": 6, "sample_rate": RATE, "feature_win_len": 32, "feature_win_step": 20, "beam_width": 500}
        for name, value in metadata.items():
            tf.constant([value], tf.int32, name=f"metadata_{name}")
        tf.constant([serialize_alphabet(labels)], name="metadata_alphabet")
        tf.constant([b"en-US"], name="metadata_language")
    definition = graph.as_graph_def()
    for node in definition.node:
        if "bad_indices_policy" in node.attr:
            del node.attr["bad_indices_policy"]
    path.write_bytes(definition.SerializeToString())


def write_silence(path: Path, frames: int) -> None:
    """Write audio that has at least this number of frames."""
    with wave.open(str(path), "wb") as wav:
        wav.setparams((1, 2, RATE, 0, "NONE", ""))
        wav.writeframes(bytes(2 * (frames + 2) * RATE // 50))
