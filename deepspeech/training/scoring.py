"""From posteriors to figures: decoding on all cores while the model computes the next batch."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from ..decoder import CTCDecoder
from ..decoder.of_alphabet import reference_of
from ..util.corpus import Utterance
from ..util.feeding import LABEL_PADDING, Batch
from ..util.figures.error_report.folder import ReportFolder
from ..util.figures.metrics import EditCounts, evaluate_transcript
from ..util.figures.output_file import OutputFile
from ..util.figures.tally import Tally, places_of_files
from ..util.parallel import usable_cores
from ..util.text import Alphabet


class Evaluator:
    """Decodes in the background and counts errors. A context manager; leaving it drops what is not begun."""

    def __init__(
        self,
        decoder: CTCDecoder,
        test_files: Sequence[Path] = (),
        output_file: OutputFile | None = None,
        report_folder: ReportFolder | None = None,
        alphabet: Alphabet | None = None,
        *,
        frames_per_row: int = 1,
    ) -> None:
        """Decode with the decoder, and add what is heard to the output file and the report, if there are any.

        Each of several test files is counted by itself, too. For the report, what a decoder with a language model
        hears is decoded also without it. With the `alphabet`, best paths are counted in validation. Posteriors have a
        row for each `frames_per_row` frames.
        """
        self._frames_per_row = frames_per_row
        self._decoder = decoder
        self._places = places_of_files(test_files)
        self._output_file = output_file
        self._report_folder = report_folder
        compares = report_folder is not None and decoder.scorer is not None and not decoder.is_ambiguous
        self._acoustic_decoder = decoder.without_scorer() if compares else None
        self._alphabet = alphabet
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
        """Start to decode posteriors, float32 [rows, batch, labels + 1]; return a tally for each utterance.

        `losses` are float32 [batch], in nats.
        """
        lengths = -(-batch.lengths // self._frames_per_row)
        return [
            self._pool.submit(self._evaluate, utterance, posteriors[:rows, column], float(losses[column]))
            for column, (utterance, rows) in enumerate(zip(batch.utterances, lengths, strict=True))
        ]

    def of_best_paths(self, batch: Batch, paths: npt.NDArray[np.int32]) -> EditCounts:
        """Return the errors of the batch's best paths, int32 [time, batch], if they are counted.

        LABEL_PADDING stands in a path for blanks and beyond its end. A label that follows itself is emitted once.
        """
        if self._alphabet is None:
            return EditCounts()
        said = (reference_of(utterance.transcript, self._alphabet, None) for utterance in batch.utterances)
        heard = (best_path_text(path, self._alphabet) for path in paths.T)
        return sum(map(evaluate_transcript, said, heard), EditCounts())

    def _evaluate(self, utterance: Utterance, posteriors: npt.NDArray[np.float32], loss: float) -> Tally:
        hypothesis = self._decoder.decode(posteriors)[0].text
        if self._output_file is not None:
            self._output_file.add(utterance, hypothesis, loss)
        if self._report_folder is not None and utterance in self._report_folder:
            acoustic = self._acoustic_decoder
            without_language_model = acoustic.decode(posteriors)[0].text if acoustic else None
            self._report_folder.add(utterance, hypothesis, loss, without_language_model)
        place = self._places.get(utterance.csv_file)
        return Tally.of_utterance(utterance.place, utterance.reference, hypothesis, loss, place)


def best_path_text(path: npt.NDArray[np.int32], alphabet: Alphabet) -> str:
    """Return the text of a path, int32 [time], of labels and LABEL_PADDING."""
    begins = np.flatnonzero(np.diff(path, prepend=LABEL_PADDING))
    return alphabet.decode(label for label in path[begins].tolist() if label != LABEL_PADDING)
