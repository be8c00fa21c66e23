"""AISHELL-1: 178 hours of read Mandarin by 400 speakers, of whom each is in one set; labels are characters.

Its sample has two of these speakers, who are in every set, and is given by --from: only the whole can be downloaded.
"""

from ..options import with_values
from .experiment import Experiment, register
from .unheard import SMALL_MASKS, UNHEARD, UNHEARD_ON_A_GPU

AISHELL1 = register(
    "aishell1",
    Experiment(
        corpus="aishell",
        summary="150 hours of read Mandarin, some 4,200 characters as labels: batches of 32, one GPU of 16 GB",
        cached_sets=("dev",),
        makes_alphabet=True,
        writes_report=True,
        options=with_values(
            UNHEARD_ON_A_GPU, {"normalize_transcripts": True, "skip_bad_rows": True, "output_step": 40}
        ),
    ),
)

AISHELL_SAMPLE = register(
    "aishell_sample",
    Experiment(
        corpus="aishell",
        summary="AISHELL-1's sample, an hour by two speakers, who are in every set: two cores and half an hour",
        cached_sets=("dev",),
        makes_alphabet=True,
        writes_report=True,
        options=with_values(
            UNHEARD,
            {
                "normalize_transcripts": True,
                "skip_bad_rows": True,
                "augment": SMALL_MASKS.written,
                "output_step": 40,
                "best_by": "cer",
                "epoch": 30,
            },
        ),
    ),
)
