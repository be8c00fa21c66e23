"""Scoring: decodes posteriors and counts errors, on all cores, while the model computes the next batch."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

import numpy as np
import numpy.typing as npt

from ..decoder import CTCDecoder, DecoderOptions
from ..decoder.evaluation import Evaluation
from ..decoder.of_alphabet import in_words
from ..decoder.references import reference_of
from ..network import Network
from ..options import Options
from ..options.training.epochs import LOSS
from ..schedule.jobs import Job, SetName
from ..util.corpus import Utterance
from ..util.feeding import Batch
from ..util.figures.metrics import evaluate_transcript
from ..util.figures.tally import Tally
from ..util.parallel import usable_cores
from ..util.text import Alphabet
from .inputs import Inputs

VALIDATION_BEAM = 16
"""Hypotheses kept after every frame in validation: enough to sum the paths of a label that occurs twice."""


class Evaluator:
    """Decodes in the background and counts errors. A context manager, whose end cancels work that has not begun."""

    def __init__(
        self,
        evaluation: Evaluation,
        alphabet: Alphabet | None = None,
        *,
        frames_per_row: int = 1,
        decoding: str = "",
    ) -> None:
        """Evaluate jobs with a report; with the `alphabet`, also count the errors of validation.

        Posteriors have a row for each `frames_per_row` frames. `decoding` describes the decoder of reports in words.
        """
        self.decoding = decoding
        self._frames_per_row = frames_per_row
        self._evaluation = evaluation
        self._alphabet = alphabet
        self._validation_decoder = (
            None if alphabet is None else CTCDecoder(alphabet.output_labels, DecoderOptions(VALIDATION_BEAM))
        )
        self._pool = ThreadPoolExecutor(max_workers=usable_cores(), thread_name_prefix="decode")

    def __enter__(self) -> "Evaluator":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def decodes(self, job: Job) -> bool:
        """Return whether anything of a job's batches is decoded."""
        return job.report or self._validates(job.set_name)

    def submit(
        self, job: Job, batch: Batch, posteriors: npt.NDArray[np.float32], losses: npt.NDArray[np.float32]
    ) -> "list[Future[Tally]]":
        """Start to decode a batch of a job; return the tallies of its utterances, for the caller to merge.

        In validation, count the errors of a narrow beam without a language model, whatever decodes the test. A report
        also needs those of the test's decoder. `posteriors` are float32 [rows, batch, labels + 1], `losses` float32
        [batch], in nats.
        """
        each = list(self._each(batch, posteriors))
        started = [self._pool.submit(self._validate, *one) for one in each] if self._validates(job.set_name) else []
        if job.report:
            started += [
                self._pool.submit(self._evaluation.tally, *one, float(loss))
                for one, loss in zip(each, losses, strict=True)
            ]
        return started

    def _validates(self, set_name: SetName) -> bool:
        return set_name is SetName.DEV and self._validation_decoder is not None

    def _each(
        self, batch: Batch, posteriors: npt.NDArray[np.float32]
    ) -> Iterator[tuple[Utterance, npt.NDArray[np.float32]]]:
        """Yield each utterance with its posteriors, float32 [rows, labels + 1]."""
        lengths = -(-batch.lengths // self._frames_per_row)
        for column, (utterance, rows) in enumerate(zip(batch.utterances, lengths, strict=True)):
            yield utterance, posteriors[:rows, column]

    def _validate(self, utterance: Utterance, posteriors: npt.NDArray[np.float32]) -> Tally:
        assert self._alphabet is not None and self._validation_decoder is not None
        said = reference_of(utterance.transcript, self._alphabet, None)
        heard = self._validation_decoder.decode(posteriors)[0].text
        return Tally(validation_edits=evaluate_transcript(said, heard))


def evaluator_of(options: Options, inputs: Inputs, network: Network, evaluation: Evaluation) -> Evaluator:
    """Return the evaluator of a run; it counts the errors of validation if these decide which checkpoint is best."""
    alphabet = inputs.alphabet if options.schedule.best_by != LOSS else None
    decoding = in_words(inputs.decoder, options.language_model)
    return Evaluator(evaluation, alphabet, frames_per_row=network.time_reduction, decoding=decoding)
