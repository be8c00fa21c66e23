"""The file of `--test_output_file`: the reference and hypothesis of each test utterance, as in DeepSpeech 0.9."""

import json
from pathlib import Path
from typing import Any

from ..corpus import Corpus, Utterance
from ..errors import FlagError
from ..files.whole_files import write_text_whole
from ..files.writable import why_no_output_file
from ..storage.copies import named_for_all
from .metrics import evaluate_transcript


def check_output_file(path: Path) -> None:
    """Raise FlagError unless the file can be written, also over one of an earlier test. Write nothing."""
    if wrong := why_no_output_file(path):
        raise FlagError(f"--test_output_file={path}: {wrong}")
    if path.exists() and not _is_json_list(path):
        raise FlagError(f"--test_output_file={path}: exists and is not what a test has written; name another file")


def _is_json_list(path: Path) -> bool:
    """Return whether a file begins like a JSON list, or is empty; False if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(1) in (b"[", b"")
    except OSError:
        return False


class OutputFile:
    """Collects the hypotheses of a corpus's utterances. Any number of threads may add to it."""

    def __init__(self, path: Path, corpus: Corpus) -> None:
        self._path = path
        self._corpus = corpus
        self._utterances = set(corpus)
        self._heard: dict[Utterance, tuple[str, float]] = {}

    def add(self, utterance: Utterance, hypothesis: str, loss: float) -> None:
        """Add an utterance's hypothesis and its loss in nats; utterances of other corpora are ignored."""
        if utterance in self._utterances:
            self._heard[utterance] = (hypothesis, loss)

    def write(self) -> None:
        """Write the file, whole or not at all: a JSON list in the order of the CSV files. Raise FlagError.

        Utterances that were left out of the test are left out here.
        """
        listed = sorted(self._heard, key=lambda utterance: (utterance.csv_file, utterance.line))
        text = json.dumps([self._entry(utterance) for utterance in listed], ensure_ascii=False, indent=2)
        try:
            write_text_whole(self._path, text)
        except OSError as error:
            raise FlagError(f"--test_output_file={self._path}: cannot be written ({error.strerror})") from error

    def _entry(self, utterance: Utterance) -> dict[str, Any]:
        hypothesis, loss = self._heard[utterance]
        edits = evaluate_transcript(utterance.reference, hypothesis)
        start = {} if utterance.part is None else {"start": utterance.part.start}
        return {
            "wav_filename": named_for_all(utterance.path),
            "src": utterance.reference,
            "res": hypothesis,
            "loss": loss,
            "char_distance": edits.character_edits,
            "char_length": edits.characters,
            "word_distance": edits.word_edits,
            "word_length": edits.words,
            "cer": edits.cer,
            "wer": edits.wer,
            "duration": utterance.samples / self._corpus.sample_rate,
            **start,
        }
