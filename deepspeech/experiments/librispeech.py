"""LibriSpeech: books read in English, in parts of 5, 100 and 960 hours; no speaker is in two sets."""

from ..options import with_values
from .experiment import Experiment, register
from .unheard import UNHEARD, UNHEARD_ON_A_GPU

MINI_LIBRISPEECH = register(
    "mini_librispeech",
    Experiment(
        corpus="librispeech",
        summary="5 hours of books read in English: WER 51 to 60 % after 3 of them, two cores and two hours",
        cached_sets=("dev",),
        parts=("train-clean-5", "dev-clean-2"),
        writes_report=True,
        options=with_values(UNHEARD, {"epoch": 60}),
    ),
)

LIBRISPEECH_100 = register(
    "librispeech_100",
    Experiment(
        corpus="librispeech",
        summary="100 hours of books read in English: batches of 32, one GPU of 16 GB",
        cached_sets=("dev",),
        parts=("train-clean-100", "dev-clean", "test-clean"),
        writes_report=True,
        options=UNHEARD_ON_A_GPU,
    ),
)

LIBRISPEECH_960 = register(
    "librispeech_960",
    Experiment(
        corpus="librispeech",
        summary="960 hours of books read in English: batches of 64, one GPU of 24 GB or more",
        parts=("train-clean-100", "train-clean-360", "train-other-500", "dev-clean", "test-clean"),
        writes_report=True,
        options=with_values(UNHEARD_ON_A_GPU, {"n_hidden": 1024, "train_batch_size": 64, "epoch": 25}),
    ),
)
