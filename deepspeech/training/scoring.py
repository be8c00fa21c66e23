"""From posteriors to figures: decoding on all cores while the model works on the next batch."""

import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

import numpy as np
import numpy.typing as npt

from ..decoder import CTCDecoder, DecoderOptions, Scorer
from ..options import LanguageModelOptions
from ..schedule.jobs import Sample, Tally
from ..util.corpus import Utterance
from ..util.feeding import Batch
from ..util.metrics import evaluate_transcript
from ..util.parallel import usable_cores
from ..util.text import Alphabet

logger = logging.getLogger(__name__)


def make_decoder(alphabet: Alphabet, options: LanguageModelOptions) -> CTCDecoder:
    """A decoder for the alphabet, with the language model if there is one. Raises DecoderError."""
    return decoder_of_labels(alphabet.labels, options)


def decoder_of_labels(labels: Sequence[str | bytes], options: LanguageModelOptions) -> CTCDecoder:
    """A decoder for labels that may be bytes, too. Raises DecoderError."""
    language_model = options.binary_path or options.scorer_path
    scorer = None
    weights = (options.lm_weight, options.valid_word_count_weight)
    if language_model is not None:
        scorer = Scorer.load(labels, language_model, options.trie_path)
        if scorer.package_defaults is not None and not options.weights_chosen:
            weights = scorer.package_defaults
            logger.info("Weights of the scorer package: --lm_weight=%g --valid_word_count_weight=%g", *weights)
    return CTCDecoder(labels, DecoderOptions(options.beam_width, *weights), scorer)


class Evaluator:
    """Decodes in the background and counts errors. A context manager; leaving it drops what is not done."""

    def __init__(self, decoder: CTCDecoder) -> None:
        self._decoder = decoder
        self._pool = ThreadPoolExecutor(max_workers=usable_cores(), thread_name_prefix="decode")

    def __enter__(self) -> "Evaluator":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(
        self, batch: Batch, posteriors: npt.NDArray[np.float32], losses: npt.NDArray[np.float32]
    ) -> "list[Future[Tally]]":
        """Start to evaluate posteriors [time, batch, labels + 1] and losses [batch]; a tally for each utterance."""
        return [
            self._pool.submit(self._evaluate, utterance, posteriors[:length, column], float(losses[column]))
            for column, (utterance, length) in enumerate(zip(batch.utterances, batch.lengths, strict=True))
        ]

    def _evaluate(self, utterance: Utterance, posteriors: npt.NDArray[np.float32], loss: float) -> Tally:
        hypothesis = self._decoder.decode(posteriors)[0].text
        edits = evaluate_transcript(utterance.transcript, hypothesis)
        wrong = Sample(str(utterance.path), utterance.transcript, hypothesis, loss, edits)
        return Tally(1, loss, edits, (wrong,) if edits.character_edits else ())
