"""AISHELL-1: 178 hours of read Mandarin by 400 speakers, of whom each is in one set; labels are characters."""

from ..options import with_values
from .experiment import Experiment, register
from .unheard import UNHEARD_ON_A_GPU

AISHELL1 = register(
    "aishell1",
    Experiment(
        corpus="aishell",
        summary="150 hours of read Mandarin, some 4,200 characters as labels: batches of 32, one GPU of 16 GB",
        cached_sets=("dev",),
        makes_alphabet=True,
        writes_report=True,
        options=with_values(UNHEARD_ON_A_GPU, {"normalize_transcripts": True, "skip_bad_rows": True}),
    ),
)
