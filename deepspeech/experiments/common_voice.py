"""Common Voice, any language: sentences read by volunteers; the alphabet is that of the transcripts."""

from ..options import with_values
from .experiment import Experiment, register
from .unheard import UNHEARD_ON_A_GPU

COMMON_VOICE = register(
    "common_voice",
    Experiment(
        corpus="common_voice",
        summary="sentences of any language read by volunteers, 10 to 1,000 hours: batches of 32, one GPU",
        cached_sets=("dev",),
        makes_alphabet=True,
        writes_report=True,
        options=with_values(
            UNHEARD_ON_A_GPU,
            {
                "normalize_transcripts": True,
                "skip_bad_rows": True,
                "lstm_layers": 5,
                "n_hidden": 512,
            },
        ),
    ),
)
