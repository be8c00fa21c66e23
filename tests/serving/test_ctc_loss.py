import tracemalloc

import numpy as np

from deepspeech.serving.ctc_loss import ctc_loss


def test_a_long_utterance_takes_memory_for_its_frames_and_not_for_each_pair_of_frame_and_label() -> None:
    frames, labels = 2000, np.arange(900, dtype=np.int32) % 3
    posteriors = np.full((frames, 4), 0.25, np.float32)
    tracemalloc.start()
    try:
        loss = ctc_loss(posteriors, labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.isfinite(loss)
    assert peak < frames * len(labels) * posteriors.itemsize / 4
