"""The properties in which nodes must agree: their program, their input, and the flags that affect the result."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from .. import __version__
from ..network import network
from ..network.layers.native_ops import native_ops
from ..options import Options, items_of
from ..options.experiment import OF_IMPORT
from ..schedule.jobs import SetName
from ..schedule.state import Plan
from ..util.augmentation.recordings import Recording
from ..util.figures.tally import counted_files
from ..util.files.opening import opened
from ..util.files.whole_files import encoded
from ..util.text import Alphabet

PACKAGE = Path(__file__).parents[1]

TRAINING_ROOMS = ("checkpoints", "cluster", "decoder", "network", "options", "schedule", "training", "util")
"""The package's folders whose sources must be the same on every node, like the sources at its root."""

OF_THE_CHIEF = {
    *("experiment", *OF_IMPORT),
    *("train_files", "dev_files", "test_files", "exclude_files", "alphabet_config_path"),
    *("train", "test", "epoch", "validation_step", "iters_per_worker"),
    *("early_stop", "es_epochs", "es_min_delta", "earlystop_nsteps", "estop_mean_thresh", "estop_std_thresh"),
    *("learning_rate", "learning_rate_schedule", "warmup_steps", "warmup_epochs", "minimum_learning_rate"),
    *("reduce_lr_on_plateau", "plateau_epochs", "plateau_reduction"),
    *("load_checkpoint_dir", "checkpoint", "fresh_optimizer", "average_checkpoints"),
    *("initialize_from_frozen_model", "initialize_from_weights", "drop_source_layers", "map_labels"),
    *("export_version", "export_batch_size", "export_beam_width", "export_language", "n_steps", "use_seq_length"),
}
"""Flags that affect the result only at the chief, or only through input data, which is itself compared."""


def code_property(package: Path = PACKAGE) -> dict[str, str]:
    """Return the version of this program: the release, and a digest of the sources that training depends on.

    Also return whether the library of native operations is loaded: a parameter server must have the operations that its
    workers use, and without them a worker draws different random numbers for dropout.
    """
    digest = hashlib.sha256()
    for folder, pattern in ((".", "*.py"), *((room, "**/*.py") for room in TRAINING_ROOMS)):
        for source in sorted((package / folder).glob(pattern)):
            digest.update(source.relative_to(package).as_posix().encode() + b"\0" + source.read_bytes())
    library = "missing" if native_ops() is None else "loaded"
    return {"code version": f"{__version__} {digest.hexdigest()[:12]}", "native library": library}


def worker_properties(
    options: Options, alphabet: Alphabet, plans: Mapping[SetName, Plan], sources: Mapping[str, Sequence[Recording]]
) -> dict[str, str]:
    """Return the properties in which all workers must agree: their input, and the flags that affect the result.

    `sources` are the recordings that augmentations mix in.
    """
    described = network(options.model, options.features.width, alphabet.size, options.features.network_step_ms)
    properties = {
        **code_property(),
        "--output_unit": alphabet.unit,
        "alphabet": f"{alphabet.size} labels {_digest(chr(0).join(alphabet.labels))}",
        "--n_hidden": str(options.model.n_hidden),
        "--relu_clip": str(options.model.relu_clip),
        "network": f"{described.name} {_digest(json.dumps(described.to_json()))}",
        "--audio_sample_rate": str(options.features.sample_rate),
        "--feature_type": options.features.feature_type,
        "--feature_win_len": str(options.features.window_ms),
        "--feature_win_step": str(options.features.step_ms),
        "--normalize_features": options.features.normalization,
        "--stack_frames": str(options.features.stack_frames),
        "--skip_frames": str(options.features.skip_frames),
        "--augment": _augmentation(options),
        "recordings of --augment": _recordings(chain.from_iterable(sources.values())),
        "--ema_decay": str(options.optimizer.ema_decay),
        "--best_by": options.schedule.best_by,
        "--test_files": _lists(options.test.files if SetName.TEST in plans else ()),
    }
    for name in SetName:
        plan = plans.get(name)
        properties[f"{name.value} corpus"] = plan.fingerprint[:16] if plan else "none"
        properties[f"--{name.value}_batch_size"] = str(plan.batch_size) if plan else "none"
        properties[f"{name.value} batches"] = (plan.batching if plan else "") or "in order"
    properties |= {name: value for name, value in _flags_that_decide(options) if name not in properties}
    return {name: encoded(value).decode() for name, value in properties.items()}


def _augmentation(options: Options) -> str:
    """Return the settings that determine how an utterance is augmented in an epoch."""
    decided_by = f"with --random_seed={options.random_seed} and --epoch={options.schedule.epoch}"
    return f"{','.join(options.augmentation.written)} {decided_by}" if options.augmentation.written else "none"


def _lists(files: Sequence[Path]) -> str:
    """Return how many lists have counts of their own, and a digest of their names in order."""
    names = [Path(each).name for each in counted_files(files)]
    return f"{len(names)} lists {_digest(chr(0).join(names))}" if names else "counted together"


def _recordings(recordings: Iterable[Recording]) -> str:
    """Return the number of recordings, and a digest of their names, parts and sizes."""
    found = [f"{path.name}{part.fragment if part else ''}\0{_size(path)}\n" for path, part in recordings]
    return f"{len(found)} files {_digest(''.join(found))}" if found else "none"


def _size(path: Path) -> int:
    """Return a recording's size in bytes; it may be in a shard, or at an address from which it is fetched again."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        with opened(path) as file:
            return os.fstat(file.fileno()).st_size


def _flags_that_decide(options: Options) -> Iterator[tuple[str, str]]:
    """Yield the flags that affect a worker's results, with their values; for files, with their sizes."""
    for row, value in items_of(options):
        if not (row.decides_result and row.on_command_line) or row.name in OF_THE_CHIEF:
            continue
        if row.kind == Path | None:
            yield f"--{row.name}", f"a file of {value.stat().st_size} bytes" if isinstance(value, Path) else "none"
        else:
            yield f"--{row.name}", ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _digest(text: str) -> str:
    return hashlib.sha256(encoded(text)).hexdigest()[:12]
