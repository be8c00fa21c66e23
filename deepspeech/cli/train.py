"""`python -m deepspeech`: train, test, export and transcribe a file."""

import logging
import re
import signal
import sys
from collections.abc import Sequence

from ..checkpoints.project_folders import in_project_folders
from ..cluster.monitoring.node_probes import node_probes
from ..cluster.monitoring.node_record import NodeRecord
from ..cluster.status_page import status_page
from ..errors import DeepSpeechError
from ..export.folder import check_folder
from ..export.formats import FORMATS
from ..options import LogOptions, Options
from ..schedule.snapshot import Publish, Snapshot
from ..training.interruption import Interrupted
from ..util.monitoring.log_lines import JSON, LETTER_AND_MESSAGE, JSONLines, TextLines, log_all_with
from ..util.signals import end_at_once_if_interrupted, say, stopping_signals
from ..util.transcripts import one_line
from . import flags
from .arguments import run_command
from .storage.local_copies import send_what_was_written, with_local_copies
from .tensorflow_import import import_tensorflow

logger = logging.getLogger("deepspeech")

LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code: 0, 1 after an error, 128 and the signal's number after a signal."""
    return run_command(lambda: _main(sys.argv[1:] if arguments is None else arguments))


def _main(arguments: Sequence[str]) -> int:
    if _asks_for_json(arguments):
        _prepare_logging(LogOptions(format=JSON), NodeRecord())  # for errors of the flags
    options = flags.parse(arguments, lambda logs: _prepare_logging(logs, NodeRecord()))
    if options is None:
        return 0
    record = NodeRecord(options.cluster.node_name)
    _prepare_logging(options.logs, record)
    for number in stopping_signals():
        signal.signal(number, _interrupt)
    try:
        options = with_local_copies(options, in_project_folders)
        for notice in options.notices:
            logger.warning(notice)
        with (
            node_probes(options.probes, options.cluster, record),
            status_page(options.status.port, record) as publish,
        ):
            _run(options, publish, record)
    except Interrupted as interrupted:
        if str(interrupted):
            say(str(interrupted))
        end_at_once_if_interrupted()
        return 128 + interrupted.signal_number
    except (DeepSpeechError, OSError):
        if options.logs.level == 0:
            logger.exception("traceback")
        raise
    return 0


def _run(options: Options, publish: Publish | None, record: NodeRecord) -> None:
    if options.export.directory is not None and options.leads:
        check_folder(options.export.directory, remove=options.export.remove)
        if options.alphabet_path is None or options.alphabet_path.exists():  # otherwise it is made from the corpus
            FORMATS[options.export.format].check_labels(options.load_alphabet())
    if options.report.test_output_file is not None:
        from ..util.figures.output_file import check_output_file

        check_output_file(options.report.test_output_file)
    if options.report.report_dir is not None:
        from ..util.figures.error_report.folder import check_report_folder

        check_report_folder(options.report.report_dir)
    # TensorFlow takes seconds to import, so the flags and all input files are checked first.
    inputs = None
    if not options.in_cluster and (options.trains or options.tests):
        from ..training.inputs import read_inputs

        inputs = read_inputs(options)
        if options.exports:
            FORMATS[options.export.format].check_labels(inputs.alphabet)
    import_tensorflow(quiet=options.logs.level > 0)
    if options.in_cluster:
        from ..cluster.launch import take_part

        take_part(options, options.cluster, record)
        if not options.cluster.is_chief:
            return
    elif inputs is not None:
        from ..training.run import train_and_test

        train_and_test(options, inputs, publish=_noting(record, publish), time_use=record.time_use)
    if options.exports:
        from ..export.from_checkpoint import export

        export(options)
    if options.trains:
        from ..checkpoints.completion import record_end_of_run

        record_end_of_run(options.checkpoint_folder)
    send_what_was_written(options)
    if options.one_shot_infer is not None:
        from ..training.one_shot import transcribe

        print(one_line(transcribe(options)))


def _noting(record: NodeRecord, publish: Publish | None) -> Publish:
    """Return the function to call with each state of training; it also notes in the record that training has begun."""

    def note(snapshot: Snapshot, utterances_per_second: float, checkpoint_at: float | None = None, /) -> None:
        if not record.joined:
            record.note_joined()
        if publish is not None:
            publish(snapshot, utterances_per_second, checkpoint_at)

    return note


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """Return whether the flags, which may have errors, ask for a log of JSON lines."""
    return re.search(r"\0--?log_format[=\0]json\0", "\0".join(["", *arguments, ""])) is not None


def _prepare_logging(options: LogOptions, record: NodeRecord) -> None:
    """Log to stderr, one letter for the level; TensorFlow's own messages are shown at debug level only."""
    handler = logging.StreamHandler()
    is_json = options.format == JSON
    handler.setFormatter(JSONLines(lambda: record.name) if is_json else TextLines(LETTER_AND_MESSAGE))
    if is_json:
        log_all_with(handler)
    logger.handlers = [handler]
    logger.setLevel(LEVELS[options.level])
    logger.propagate = False
    traces = logging.getLogger("opentelemetry")
    traces.handlers, traces.propagate = [handler], False
    logging.getLogger("deepspeech.traffic").setLevel(logging.INFO if options.traffic else logging.WARNING)
    if options.level:
        logging.getLogger("tensorflow").setLevel(logging.ERROR)


def _interrupt(number: int, _frame: object) -> None:
    say("interrupted; there was nothing to save")
    end_at_once_if_interrupted()
    raise Interrupted(number)
