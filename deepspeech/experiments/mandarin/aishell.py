"""AISHELL-1: 178 hours of read Mandarin by 400 speakers, each in one set; labels are characters.

Its sample has two of these speakers, both in every set. It needs --from: only the whole corpus can be downloaded.
"""

from dataclasses import replace

from ...options import with_values
from ..experiment import Experiment, register
from ..unheard import MANDARIN, SMALL_MASKS, UNHEARD, UNHEARD_ON_A_GPU

AISHELL1 = register(
    "aishell1",
    Experiment(
        corpus="aishell",
        summary="150 hours of read Mandarin, some 4,200 characters as labels: batches of 32, one GPU of 16 GB",
        cached_sets=("dev",),
        makes_alphabet=True,
        writes_report=True,
        options=with_values(UNHEARD_ON_A_GPU, MANDARIN),
    ),
)

AISHELL_SAMPLE = register(
    "aishell_sample",
    replace(
        AISHELL1,
        summary="AISHELL-1's sample, an hour by two speakers, both in every set: CER 49 to 56 %, half an hour",
        options=with_values(UNHEARD, {**MANDARIN, "augment": SMALL_MASKS.written, "best_by": "cer", "epoch": 30}),
    ),
)
