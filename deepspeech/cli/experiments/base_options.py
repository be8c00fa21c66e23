"""Runs whose parameters have a name: those of an experiment, or those of another run."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import FlagError
from ...experiments.auto.choosing import AUTO, Beginning, Machine, experiment_for, measured_before
from ...experiments.auto.measuring import Measured, measure
from ...experiments.experiment import Experiment, experiments, find_experiment
from ...options import ExperimentOptions, Options, values_of, with_values
from ...options.experiment import OF_IMPORT, corpus_folders
from ...options.parameters.of_run import run_parameters, values_of_parameters
from ...options.parameters.text import FILE_NAME, read_parameters
from ...options.parameters.text import Value as Written
from ...options.rows.values import Value
from ...util.corpus_files import fetched
from ...util.files.python_files import load_python_file
from ...util.files.user_folders import cache_folder
from ...util.importing import format_of, read_items, unpacked_source
from ...util.progress import report, without_warnings
from ...util.storage.copies import named_for_all
from ..storage.addresses import check_on_this_machine

LIST = "list"
"""The name that stands for all experiments."""


def base_options(given: Options, names: Collection[str]) -> Options | None:
    """Return the options that the flags of a command line, `given`, then change; None if these are the defaults.

    `names` are the names of the given flags. Raise FlagError for flags that cannot be combined or an unknown
    experiment, ParametersError for a `params.txt` that cannot be used, and PythonFileError for such a Python file.
    """
    wanted = given.experiment
    if wanted.name and wanted.params_file:
        raise FlagError("--experiment: cannot be combined with --params_file, which names its experiment itself")
    _check_on_this_machine(wanted)
    if wanted.params_file:
        return _of_parameters(wanted.params_file, wanted.work)
    if wanted.name:
        name, experiment = _find(wanted.name)
        work = wanted.work or _default_folder(name)
        if experiment is AUTO:
            experiment = _fitted(given, names, work)
        elif not experiment.corpus:
            _check_not_imported(wanted, f"--experiment={wanted.name} imports no corpus; --train_files names its lists")
        elif not wanted.sources and (begun := _begun(work)):  # with --from, the corpus is imported again
            _check_import(given, names, begun, work)
        return experiment.options_in(wanted.name, work)
    if wanted.sources or wanted.work is not None:
        flag = "from" if wanted.sources else "work"
        raise FlagError(f"--{flag}: needs --experiment, the experiment with these recordings or this work folder")
    _check_not_imported(wanted, "needs --experiment, whose corpus is imported")
    return None


def _check_on_this_machine(wanted: ExperimentOptions) -> None:
    """Raise FlagError for an address where a folder or a list of this machine is needed."""
    check_on_this_machine("work", wanted.work)
    for source in wanted.sources:
        others = "; --train_files takes the addresses of lists, and import_corpus that of a folder"
        check_on_this_machine("from", source, others)


def _check_not_imported(wanted: ExperimentOptions, why: str) -> None:
    values = values_of(wanted)
    for flag in (flag for flag in OF_IMPORT if values[flag]):
        raise FlagError(f"--{flag}: {why}")


def asks_for_list(wanted: ExperimentOptions) -> bool:
    """Return whether the list of experiments is asked for: by its flag, or by the name `list`."""
    return wanted.list_experiments or wanted.name == LIST


def list_experiments() -> str:
    """Return a line for each experiment: its name and its summary."""
    known = experiments()
    width = max(map(len, known))
    return "\n".join(f"{name:{width}}  {experiment.summary}" for name, experiment in known.items())


def _find(text: str) -> tuple[str, Experiment]:
    """Return the experiment of this name; list all of them if there is none, unless it was to be in a file."""
    try:
        return find_experiment(text)
    except FlagError:
        if ":" not in text:
            report(list_experiments())
        raise


def _fitted(given: Options, names: Collection[str], work: Path) -> Experiment:
    """Return the experiment auto for a corpus, which is measured unless a run in the work folder has begun with it."""
    from .beginning import beginning_of, beginning_of_run  # need native code, as they read weights

    parameters, sources, values = _parameters_in(work), given.experiment.sources, values_of(given)
    begun = _begun(work)
    if begun is not None:
        _check_sources(sources, values_of_parameters({"from": begun.get("from")}, work, parameters)["from"], work)
        _check_import(given, names, begun, work)
        corpus = str(begun.get("corpus", AUTO.corpus))
        measured, machine, origin = measured_before(begun.get("measured"), parameters)
        beginning = beginning_of_run(origin, begun, given.checkpoints, parameters) if origin else None
        report(
            f"auto: continuing with what was chosen for about {measured.utterances} utterances when the run in {work} "
            "began"
        )
    elif sources:
        beginning = beginning_of(given.checkpoints, given.model.network)
        corpus, measured = _measured(given, names, work, beginning)
        machine = Machine.this_one()
    else:
        raise FlagError(
            "--experiment=auto: needs --from, a folder of recordings, or lists, such as --from train.csv,dev.csv"
        )
    experiment, choices = experiment_for(measured, machine, beginning)
    chosen = {name for choice in choices for name in choice.flags}
    begun_with = _kept(experiment, chosen, begun, work) if begun else {}
    kept = {name: value for name, value in begun_with.items() if name not in names}
    for choice in choices:
        for reason in choice.reasons:
            report(f"auto: {reason}")
        _report_others({name: values[name] for name in choice.flags if name in names}, "as given")
        _report_others({name: kept[name] for name in choice.flags if name in kept}, "as when the run began")
    _report_others({name: kept[name] for name in kept if name not in chosen}, "as when the run began")
    return replace(experiment.with_flags(**kept), corpus=corpus)


def _kept(
    experiment: Experiment, chosen: Collection[str], begun: Mapping[str, Written], work: Path
) -> dict[str, Value]:
    """Return the settings of the run that began in a work folder, `begun`, where `experiment` now has others.

    An earlier version has chosen them, or they were given. Epochs are not kept: a run may begin with a few of them.
    """
    now, default = run_parameters(experiment.options), run_parameters(Options())
    names = [name for name in now if name in chosen or now[name] != default[name]]
    before = {name: begun.get(name, default[name]) for name in names if name not in ("epoch", "measured")}
    other = {name: value for name, value in before.items() if value != now[name]}
    return values_of_parameters(other, work, _parameters_in(work))


def _report_others(flags: Mapping[str, Value], why: str) -> None:
    """Report flags that take the place of what was chosen, if there are any."""
    if flags:
        report(f"auto: but {' '.join(f'--{name}={value}' for name, value in flags.items())}, {why}")


def _measured(given: Options, names: Collection[str], work: Path, beginning: Beginning | None) -> tuple[str, Measured]:
    """Return the format of the recordings that `--from` names, and what is measured of them."""
    sources, choices = given.experiment.sources, given.experiment.choices
    named = ", ".join(map(str, sources))
    out, *_ = corpus_folders(work, ())
    values = values_of(given)
    decided = beginning.flags if beginning else {}
    options = with_values(AUTO.options, {**decided, **{name: values[name] for name in names}})
    corpus, source = AUTO.corpus, sources[0]
    if len(sources) == 1:
        source = unpacked_source(source, out)
    with without_warnings():
        if len(sources) == 1 and not source.exists():
            raise FlagError(f"--from={source}: there is no such folder or list")
        if len(sources) > 1 or not source.is_dir():
            choices = replace(choices, lists=sources)
        else:
            corpus = format_of(source, replace(choices, out=out))
            report(f"auto: {source} is imported in the format {corpus}")
        items = read_items(corpus, source, replace(choices, out=out, writes=True))
        return corpus, measure(items, named, options.transcripts.normalizer, options.alphabet.unit, choices.split)


def _check_sources(sources: Sequence[Path], begun: Value, work: Path) -> None:
    """Raise FlagError if the lists are not those that the run in a work folder began with, as its parameters say."""
    began_with = [Path(each) for each in begun] if isinstance(begun, tuple) else []
    if sources and began_with and [each.resolve() for each in sources] != [each.resolve() for each in began_with]:
        raise FlagError(
            f"--from: the run in --work={work} began with {','.join(map(str, began_with))}; choose another --work for "
            "other recordings, or go on without --from"
        )


def _parameters_in(work: Path) -> Path:
    return work / "checkpoints" / FILE_NAME


def _begun(work: Path) -> dict[str, Written] | None:
    """Return the parameters of the run that began in a work folder; None if there is none."""
    parameters = _parameters_in(work)
    return read_parameters(parameters) if parameters.exists() else None


def _check_import(given: Options, names: Collection[str], begun: Mapping[str, Written], work: Path) -> None:
    """Raise FlagError if given flags of imports have other values than in the run that began in a work folder."""
    values = values_of(given)
    for name in OF_IMPORT:
        if name != "from" and name in names and values[name] != begun.get(name, values[name]):
            before = begun[name]
            written = ",".join(map(str, before)) if isinstance(before, tuple) else before
            raise FlagError(
                f"--{name}: the run in --work={work} began {f'with --{name}={written}' if before else 'without it'}; "
                f"choose another --work, or go on without --{name}"
            )


def _of_parameters(path: Path, work: Path | None) -> Options:
    path = fetched(path / FILE_NAME if path.is_dir() else path)
    parameters = read_parameters(path)
    file, colon, name = str(parameters.get("experiment") or "").rpartition(":")
    if colon:  # for what else it registers, such as a network
        load_python_file(Path(file), f"--params_file={named_for_all(path)}")
    if work is None and parameters.get("corpus"):
        work = _default_folder(name)
    values = values_of_parameters(parameters, work, path)
    folders = {"work": work, "checkpoint_dir": work / "checkpoints", "summary_dir": work / "summaries"} if work else {}
    options = with_values(Options, {**values, **folders})
    return replace(options, front_end=options.front_end.left_open)


def _default_folder(name: str) -> Path:
    return cache_folder() / name
