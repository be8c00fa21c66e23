"""The folder of `--report_dir`: report.html, report.json and utterances.csv, written together or not at all."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from ...corpus import Corpus, Utterance
from ...corpus_files import columns_by_line
from ...errors import FlagError
from ...files.whole_files import folder_written_whole, write_text_whole
from ...files.writable import why_not_writable
from ...parallel import ordered_map, usable_cores
from ...progress import Progress
from ...storage.copies import named_for_all
from ..errors.levels import Levels, levels_of_file
from .content import make_report
from .html.page import page
from .results import UtteranceResult, csv_of

log = logging.getLogger(__name__)

PAGE = "report.html"
FIGURES = "report.json"
UTTERANCES = "utterances.csv"
FILES = {PAGE, FIGURES, UTTERANCES}

_RECORDINGS_AHEAD = 64


def check_report_folder(folder: Path) -> None:
    """Raise FlagError unless a report can be written to a folder, also over an older one. Write nothing."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise FlagError(f"--report_dir={folder}: not a folder; name another one")
    foreign = sorted({path.name for path in folder.iterdir()} - FILES) if folder.exists() else []
    if foreign:
        raise FlagError(f"--report_dir={folder}: holds {foreign[0]}, which is no part of a report; name another folder")
    wrong = why_not_writable(folder.absolute().parent)
    if wrong:
        raise FlagError(f"--report_dir={folder}: {wrong}; name another one")


class ReportFolder:
    """Collects the hypotheses of a test. Any number of threads may add to it."""

    def __init__(self, folder: Path, title: str, corpus: Corpus) -> None:
        """`title` says which model is tested."""
        self._folder = folder
        self._title = title
        self._sample_rate = corpus.sample_rate
        self._utterances = set(corpus)
        self._heard: dict[Utterance, tuple[str, float, str | None]] = {}

    def __contains__(self, utterance: Utterance) -> bool:
        return utterance in self._utterances

    def add(self, utterance: Utterance, hypothesis: str, loss: float, without_language_model: str | None) -> None:
        """Add an utterance's hypothesis, its loss in nats, and its hypothesis without a language model.

        `without_language_model` is None if `hypothesis` used no language model. Other corpora's utterances are ignored.
        """
        if utterance in self._utterances:
            self._heard[utterance] = (hypothesis, loss, without_language_model)

    def write(self, *, progress: bool = True) -> None:
        """Measure the recordings and write the report. Raise FlagError if it cannot be written.

        Utterances that were left out of the test are left out here; without utterances, no report is written.
        """
        listed = sorted(self._heard, key=lambda utterance: (utterance.csv_file, utterance.line))
        if not listed:
            log.warning("No report of the errors: no utterance was tested")
            return
        results = self._results(listed, progress)
        with Progress("Comparing texts", len(results), progress, unit="utterance") as bar:
            report = make_report(self._title, results, bar.advance)
        texts = {PAGE: page(report, self._folder), FIGURES: report.to_json(), UTTERANCES: csv_of(results)}
        try:
            check_report_folder(self._folder)
            with folder_written_whole(self._folder) as new:
                for name, text in texts.items():
                    write_text_whole(new / name, text)
        except OSError as error:
            raise FlagError(f"--report_dir={self._folder}: cannot be written ({error.strerror})") from error
        log.info("Report of the errors: %s", named_for_all(self._folder / PAGE))

    def _results(self, listed: Sequence[Utterance], progress: bool) -> list[UtteranceResult]:
        columns = {each: columns_by_line(each) for each in {utterance.csv_file for utterance in listed}}
        results = []
        with Progress("Measuring recordings", len(listed), progress, unit="recording") as bar:
            measured = ordered_map(_levels, listed, usable_cores(), _RECORDINGS_AHEAD)
            for utterance, of_recording in zip(listed, measured, strict=True):
                further = columns[utterance.csv_file].get(utterance.line, {})
                results.append(self._result(utterance, of_recording, further))
                bar.advance()
        return results

    def _result(self, utterance: Utterance, measured: Levels | None, further: dict[str, str]) -> UtteranceResult:
        hypothesis, loss, without_language_model = self._heard[utterance]
        return UtteranceResult(
            csv_file=named_for_all(utterance.csv_file),
            line=utterance.line,
            recording=named_for_all(Path(utterance.path).absolute()),
            reference=utterance.reference,
            hypothesis=hypothesis,
            without_language_model=without_language_model,
            loss=loss,
            seconds=utterance.samples / self._sample_rate,
            loudness=measured.loudness if measured else None,
            signal_to_noise=measured.signal_to_noise if measured else None,
            columns=further,
            start=utterance.part.start if utterance.part else None,
        )


def _levels(utterance: Utterance) -> Levels | None:
    return levels_of_file(utterance.path, utterance.part)
