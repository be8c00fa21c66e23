"""The evaluation of a model on utterances: its transcripts, and the errors in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..options import ReportOptions
from ..util.corpus import Corpus, Utterance
from ..util.figures.error_report.folder import ReportFolder
from ..util.figures.output_file import OutputFile
from ..util.figures.tally import Tally, places_of_files
from ..util.files.whole_files import encoded
from . import CTCDecoder


class Evaluation:
    """Decodes utterances, counts errors, and adds the transcripts to an output file and a report, if there are any.

    For the report, utterances are also decoded without the language model, if the decoder has one.
    """

    def __init__(
        self,
        decoder: CTCDecoder,
        test_files: Sequence[Path] = (),
        output_file: OutputFile | None = None,
        report_folder: ReportFolder | None = None,
    ) -> None:
        """Decode with the decoder; if there are several test files, count each by itself, too."""
        self._decoder = decoder
        self._places = places_of_files(test_files)
        self._output_file = output_file
        self._report_folder = report_folder
        compares = report_folder is not None and decoder.scorer is not None and not decoder.is_ambiguous
        self._acoustic_decoder = decoder.without_scorer() if compares else None

    @classmethod
    def of_test(
        cls, decoder: CTCDecoder, test_files: Sequence[Path], corpus: Corpus | None, options: ReportOptions, title: str
    ) -> Evaluation:
        """Return the evaluation of a test on a corpus, which writes the files that the options name; none without one.

        `title` says which model is tested.
        """
        path, folder = options.test_output_file, options.report_dir
        output_file = OutputFile(path, corpus) if path and corpus is not None else None
        report_folder = ReportFolder(folder, title, corpus) if folder and corpus is not None else None
        return cls(decoder, test_files, output_file, report_folder)

    def tally(self, utterance: Utterance, posteriors: npt.NDArray[np.float32], loss: float) -> Tally:
        """Return the tally of an utterance from its posteriors, float32 [rows, labels + 1], and its loss, in nats.

        Any thread may call it.
        """
        hypothesis = self._decoder.decode(posteriors)[0].text
        if self._output_file is not None:
            self._output_file.add(utterance, hypothesis, loss)
        if self._report_folder is not None and utterance in self._report_folder:
            acoustic = self._acoustic_decoder
            without_language_model = acoustic.decode(posteriors)[0].text if acoustic else None
            self._report_folder.add(utterance, hypothesis, loss, without_language_model)
        place = self._places.get(utterance.csv_file)
        name = encoded(utterance.place).decode()  # summaries take only valid UTF-8
        return Tally.of_utterance(name, utterance.reference, hypothesis, loss, place)

    def write(self, *, progress: bool) -> None:
        """Write the output file and the report, if there are any. Raise FlagError if one cannot be written."""
        if self._output_file is not None:
            self._output_file.write()
        if self._report_folder is not None:
            self._report_folder.write(progress=progress)
