"""CMU AN4: letters, digits, commands and dates by 74 speakers, each in one set."""

from dataclasses import replace

from ..options import with_values
from ..util.output_units import WordPieceAlphabet
from .experiment import Experiment, register
from .unheard import SMALL_MASKS, UNHEARD

AN4 = register(
    "an4",
    Experiment(
        corpus="an4",
        summary="AN4: letters, digits and dates by 74 speakers, each in one set: WER 7 to 10 %, two cores and an hour",
        cached_sets=("dev",),
        options=with_values(
            UNHEARD,
            {
                "augment": SMALL_MASKS.written,
                "convolutions": 4,
                "epoch": 110,
                "lm_weight": 1.0,  # of a given language model
                "valid_word_count_weight": 3.0,
            },
        ),
    ),
)

AN4_STREAMING = register(
    "an4_streaming",
    replace(
        AN4.with_flags(bidirectional=False, lstm_chunk=16, lstm_chunk_offset=8),
        summary="AN4 with a streaming network, 0.32 s at a time: WER 8 to 11 %",
    ),
)

AN4_WORDPIECES = register(
    "an4_wordpieces",
    replace(
        AN4.with_flags(output_unit=WordPieceAlphabet.unit, output_step=40, convolutions=2, epoch=100),
        makes_alphabet=True,
        summary="AN4 in word pieces, needs the extra `wordpieces`: WER 10 %",
    ),
)

AN4_WITH_LIBRISPEECH = register(
    "an4_with_librispeech",
    replace(
        AN4.with_flags(epoch=12),
        besides=("librispeech",),
        summary="AN4 and books (--from AN4,LIBRISPEECH), an hour; an4 that starts from its model: WER 7 %",
    ),
)
