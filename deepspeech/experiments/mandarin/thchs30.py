"""THCHS-30: 33 hours of read Mandarin by 40 speakers; labels are characters."""

from ...options import with_values
from ..experiment import Experiment, register
from ..unheard import MANDARIN, UNHEARD_ON_A_GPU

THCHS30 = register(
    "thchs30",
    Experiment(
        corpus="thchs30",
        summary="25 hours of read Mandarin, some 2,900 characters as labels: batches of 32, one GPU of 8 GB",
        cached_sets=("dev",),
        makes_alphabet=True,
        writes_report=True,
        options=with_values(UNHEARD_ON_A_GPU, {**MANDARIN, "lstm_layers": 5, "n_hidden": 512}),
    ),
)
