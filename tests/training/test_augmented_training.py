"""Training with augmentation: which sets are augmented, and that neither a restart nor a cache changes the losses."""

import re

import pytest
from corpora import TinyCorpus
from program import Program

from deepspeech.cli.flags import parse
from deepspeech.network import network
from deepspeech.schedule.jobs import SetName
from deepspeech.training.data_set import open_sets
from deepspeech.training.inputs import read_inputs
from deepspeech.util.features import front_end
from deepspeech.util.text import outputs_needed

AUGMENTATION = (
    "--augment=speed[p=0.8,factor=1~0.15]",
    "--augment=noise[p=0.5,snr=15~10]",
    "--augment=frequency_mask[p=0.5]",
    "--augment=time_mask[p=0.5,domain=features,n=2,size=60]",
)


def losses(stderr: str) -> list[str]:
    return re.findall(r"(?:Training|Validation|Test)[^:\n]*: loss [\d.]+", stderr)


def run(corpus: TinyCorpus, folder: Program, *flags: str, epoch: int, **others: object) -> list[str]:
    folder.folder.mkdir(exist_ok=True)
    program = Program(corpus, folder.folder)
    training = program.training(epoch=epoch, validation_step=1, **others)
    finished = program.run(*training, *program.test_files(), "--noearly_stop", *flags)
    assert finished.code == 0, finished.stderr
    return losses(finished.stderr)


def test_only_the_training_set_is_augmented_and_differently_in_each_epoch(program: Program) -> None:
    def losses_of(name: str, *flags: str) -> list[str]:
        still = {"learning_rate": 1e-30, "dropout_rate": 0.0}
        found = run(program.corpus, Program(program.corpus, program.folder / name), *flags, epoch=2, **still)
        return [line.rpartition(" ")[2] for line in found]

    first, first_dev, second, second_dev, test = losses_of("plain")
    assert first == second
    augmented, dev, augmented_again, dev_again, augmented_test = losses_of("augmented", *AUGMENTATION)
    assert len({first, augmented, augmented_again}) == 3
    assert (dev, dev_again, augmented_test) == (first_dev, second_dev, test)


def test_a_training_that_goes_on_has_the_losses_of_one_that_was_never_stopped(program: Program) -> None:
    whole = Program(program.corpus, program.folder / "whole")
    parts = Program(program.corpus, program.folder / "parts")
    undisturbed = run(program.corpus, whole, *AUGMENTATION, epoch=3)
    cache = f"--train_cached_features_path={program.folder / 'train.h5'}"
    begun = run(program.corpus, parts, *AUGMENTATION, cache, epoch=1)
    gone_on = run(program.corpus, parts, *AUGMENTATION, cache, epoch=3)
    assert [*begun[:2], *gone_on] == undisturbed
    parameters = (whole.checkpoints / "params.txt").read_text()
    assert f"augment : ({', '.join(repr(each.partition('=')[2]) for each in AUGMENTATION)})\n" in parameters


def test_noise_that_is_not_there_ends_the_program_before_anything_is_read(program: Program) -> None:
    finished = program.run(*program.training(epoch=1), "--augment=overlay[source=nowhere,snr=3]")
    assert finished.code == 1
    assert "--augment=overlay[source=nowhere,snr=3]: source=nowhere: there is no such file or folder" in finished.error
    assert not program.checkpoints.exists()


@pytest.mark.parametrize(
    "flags",
    [["--augment=speed[factor=3]"], ["--augment=speed[factor=1.6]", "--stack_frames=2", "--output_step=80"]],
    ids=["of single frames", "of stacked frames"],
)
def test_no_utterance_becomes_too_short_for_the_outputs_of_its_network(program: Program, flags: list[str]) -> None:
    options = parse([*program.training(validation_step=0), "--network=lstm", "--noshow_progressbar", *flags])
    assert options is not None
    inputs, features = read_inputs(options), options.features
    lstm = network(options.model, features.width, inputs.alphabet.size, features.network_step_ms)
    assert lstm.time_reduction == 2
    changed = []
    with open_sets(options, inputs, front_end(features)) as sets:
        for batch in sets[SetName.TRAIN].feeder.batches(range(6)):
            for utterance, length in zip(batch.utterances, batch.lengths, strict=True):
                assert lstm.rows(int(length)) >= outputs_needed(utterance.labels)
                changed.append(length < features.stacking.count(utterance.frames))
    assert any(changed) and not all(changed)
