"""How well a model finds that the transcripts of a corpus fit their recordings."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np

from ...decoder import CTCDecoder
from ...util.audio import read_audio
from ...util.checks.bad_rows.ranking import RowFigures
from ...util.corpus import Corpus, Utterance
from ...util.errors import AudioError
from ...util.parallel import ordered_map, usable_cores
from ..acoustics.loading import AcousticModel
from ..ctc_loss import ctc_loss
from ..posteriors import posteriors_of
from .viterbi import LabelSpans, align_labels

logger = logging.getLogger(__name__)

UTTERANCES_AHEAD = 64
"""Utterances that are computed ahead of the one whose figures are taken next."""


def figures_of_rows(model: AcousticModel, decoder: CTCDecoder, corpus: Corpus) -> Iterator[RowFigures | None]:
    """Yield the figures of each utterance of a corpus, in its order, computed on all cores.

    For a recording that can no longer be read, yield None and log a warning.
    """

    def figures(utterance: Utterance) -> RowFigures | None:
        try:
            signal = read_audio(utterance.path, model.info.features.sample_rate, utterance.part)
        except AudioError as error:
            logger.warning("Left out: %s (%s)", error, utterance.source)
            return None
        posteriors = posteriors_of(signal, model.features, model.engine)
        return RowFigures(
            utterance,
            ctc_loss(posteriors, utterance.labels) / len(utterance.labels),
            longest_gap(align_labels(posteriors, utterance.labels)) * model.info.row_seconds,
            decoder.decode(posteriors)[0].text,
        )

    yield from ordered_map(figures, corpus, threads=usable_cores(), ahead=UTTERANCES_AHEAD)


def longest_gap(spans: LabelSpans) -> int:
    """Return the frames of the longest stretch without a label, between the first and the last label."""
    return int(np.max(spans.first[1:] - spans.last[:-1] - 1, initial=0))
