"""Measures what each part of an experiment contributes: trains it as it is, and then without each part in turn.

    python -m benchmarks.accuracy.ablation --from an4 [--experiment an4] [--work ablation] [--without speed noise]
        [-- --epoch 25 --split 78:11:11]

Flags after `--` are passed to every training. Prints the word error rates on the validation and the test set, without
a language model, as rows of a table. Trainings that are finished in the folder of `--work` are not repeated.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from deepspeech.errors import DeepSpeechError
from deepspeech.experiments.experiment import find_experiment
from deepspeech.options import Options

from ..processes.commands import run_quietly

Flags = Sequence[str]

NOTHING = "nothing"
AVERAGING = "averaging"
SETS = ("dev", "test")


def without_augmentation(*kinds: str) -> Callable[[Options], Flags]:
    """Return a function that returns the flags of all augmentations but these kinds."""

    def flags(options: Options) -> Flags:
        kept = [each for each in options.augmentation.written if each.partition("[")[0] not in kinds]
        return [f"--augment={each}" for each in kept] or ["--augment="]

    return flags


PARTS: dict[str, Callable[[Options], Flags]] = {
    NOTHING: lambda _: [],
    "normalization": lambda _: ["--normalize_features=none"],
    "speed": without_augmentation("speed"),
    "noise": without_augmentation("noise"),
    "masks": without_augmentation("frequency_mask", "time_mask"),
    "schedule": lambda _: ["--learning_rate_schedule=constant", "--warmup_epochs=0"],
    AVERAGING: lambda _: ["--average_checkpoints=1"],
    "intermediate": lambda _: ["--intermediate_ctc_weight=0"],
    "dropout": lambda _: ["--dropout_rate=0"],
    "network": lambda _: ["--network=deepspeech", "--n_hidden=512", "--stack_frames=2"],
}
"""The flags of a training without each part; the network is replaced by DeepSpeech's, with a row every 20 ms."""


def main() -> None:
    """Train, test, and print a row for each part."""
    options = _parsed()
    try:
        _, experiment = find_experiment(options.experiment)
    except DeepSpeechError as error:
        sys.exit(str(error))
    print(f"| without | {' | '.join(SETS)} |\n| --- |{' --- |' * len(SETS)}", flush=True)
    for part in options.without:
        # averaging takes place at the test, so it uses the checkpoints of the whole experiment, all of which are kept
        trained = NOTHING if part == AVERAGING else part
        folder = options.work / trained
        shared = [f"--experiment={options.experiment}", f"--from={options.folder}", f"--work={folder}"]
        flags = [*shared, "--lm_binary_path=", *options.flags]
        _run([*flags, *PARTS[trained](experiment.options), "--notest"])
        tested = [*flags, *PARTS[part](experiment.options), "--notrain"]
        rates = (f"{rate:.1f} %" for rate in _word_error_rates(tested, folder))
        print(f"| {part} | {' | '.join(rates)} |", flush=True)


def _word_error_rates(flags: Flags, folder: Path) -> Iterator[float]:
    """Yield the word error rate of each set, in percent."""
    for name in SETS:
        log = _run([*flags, f"--test_files={folder / 'corpus' / name}.csv"])
        yield float(re.findall(r"Test: loss .*, WER ([\d.]+)%", log)[-1])


def _run(flags: Flags) -> str:
    """Run the program with flags, and return its log."""
    return run_quietly([sys.executable, "-m", "deepspeech", *flags, "--noshow_progressbar"])


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", default="an4")
    parser.add_argument("--from", dest="folder", type=Path, required=True, help="the corpus")
    parser.add_argument("--work", type=Path, default=Path("ablation"))
    parser.add_argument("--without", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("flags", nargs="*", help="of every training, behind --")
    return parser.parse_args()


if __name__ == "__main__":
    main()
