"""The `deepspeech-server` command: exported models over WebSocket and with OpenAI's interface."""

import argparse
import logging
import re
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..errors import FlagError
from ..options.export import MODEL_FILE
from ..serving.layers.precision import PRECISIONS
from ..serving.server.libraries import check_libraries
from ..serving.server.options import LARGEST_LIMIT, PAGE_PORT, Limits, ServedModel, ServerOptions
from ..util.files.user_paths import user_path
from ..util.monitoring.log_lines import FORMATS, JSON, TEXT, JSONLines, last_words, log_all_with, text_handler
from ..util.storage.addresses import address_of
from ..util.web.certificates import check_certificate, expiry
from ..util.web.tokens import is_reached_from_beyond, read_token
from .arguments import NOT_HERE, ArgumentParser, add_version_flag, run_command
from .utterances.endpoints import add_endpoint_flags, rules_of, voice_activity

PROGRAM = "deepspeech-server"
TOKEN_VARIABLE = "DEEPSPEECH_SERVER_TOKEN"  # noqa: S105 - the name of an environment variable
DEFAULT_NAME = "deepspeech"
"""The name of a model that is given without one."""

HOST = re.compile(r"[\w.-]*[\w-]", re.ASCII)
ORIGIN = re.compile(r"null|(?!https://.*:443$|http://.*:80$)[a-z][a-z0-9+.-]*://([a-z0-9_.-]+|\[[0-9a-f:.]+\])(:\d+)?")
"""An origin as browsers write it: in lower case, without the default port of its scheme, and without a path."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0 after a signal to stop, 1 after an error."""
    logging.basicConfig(handlers=[text_handler(f"{PROGRAM}: %(message)s")], level=logging.WARNING)
    return run_command(lambda: _main(arguments), PROGRAM)


def _main(arguments: Sequence[str] | None) -> None:
    given = parser().parse_args(arguments)
    if given.log_format == JSON:
        handler = logging.StreamHandler()
        handler.setFormatter(JSONLines(lambda: PROGRAM))
        log_all_with(handler)
    options = options_of(given)
    check_libraries(PROGRAM)
    from ..serving.server.running import serve

    if options.tls_certificate and options.tls_key and (why := expiry(options.tls_certificate, options.tls_key)):
        say(f"--tls_certificate={options.tls_certificate}: {why}; clients will refuse it")

    serve(options, say)


def say(line: str) -> None:
    """Print a line on stderr."""
    print(last_words(line, PROGRAM, "info"), file=sys.stderr, flush=True)


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = ArgumentParser("Serve exported models: live streams, and OpenAI's interface for recordings.", PROGRAM)
    _add_models(made)
    _add_ways_in(made)
    _add_process(made)
    add_endpoint_flags(made)
    for each in fields(Limits):
        told = f"{each.metadata['help']} (default: %(default)s)"
        made.add_argument(f"--{each.name}", type=type(each.default), default=each.default, help=told)
    add_version_flag(made)
    return made


def _add_models(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--model",
        required=True,
        action="append",
        metavar="[NAME=]PATH",
        help=f"{MODEL_FILE}; several need names, and clients that name no model get the first",
    )
    add(
        "--scorer",
        action="append",
        default=[],
        metavar="[NAME=]PATH",
        help="language model, a scorer package or a KenLM file: for every model, or for the named one",
    )
    add(
        "--precision",
        choices=PRECISIONS,
        default=ServedModel.precision,
        help="precision of the networks' weights: int8 is faster and needs less memory; auto is int8 where the "
        "processor has special instructions for it (default: %(default)s)",
    )


def _add_ways_in(parser: ArgumentParser) -> None:
    """Add the flags for addresses and access."""
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s, this machine only)")
    add("--port", type=int, default=PAGE_PORT, help="port to listen on; 0: any free port (default: %(default)s)")
    add(
        "--token_file",
        type=Path,
        help=f"file with the secret that clients must send; or set {TOKEN_VARIABLE}; "
        "needed with a --host beyond this machine",
    )
    add("--tls_certificate", type=Path, help="PEM file of the certificate and its chain")
    add("--tls_key", type=Path, help="PEM file of its key")
    add(
        "--wyoming_port",
        type=int,
        help="port for clients of Wyoming, such as Home Assistant; 0: any free port (default: none)",
    )
    add(
        "--wyoming_unprotected",
        action="store_true",
        help="accept Wyoming's clients from other machines, although the protocol has no secret and no encryption",
    )
    add("--allowed_hosts", default="", help="further names of the server, separated by commas; * for any")
    add("--allowed_origins", default="", help="origins of other sites' pages that may use it, separated by commas")


def _add_process(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--threads",
        type=int,
        default=0,
        help="threads that recognize live streams (default: one for each allowed stream, up to 128)",
    )
    add(
        "--drain_secs",
        type=float,
        default=ServerOptions.drain_secs,
        help="seconds after SIGTERM in which work in progress may finish (default: %(default)s)",
    )
    add(
        "--log_format",
        choices=FORMATS,
        default=TEXT,
        help="format of the log on stderr: text, or json, one object per line (default: %(default)s)",
    )


def options_of(given: argparse.Namespace) -> ServerOptions:
    """Return the options of the command line; raise FlagError, naming the flag, for a wrong value."""
    if not 0 <= given.port <= 65535:
        raise FlagError(f"--port={given.port}: must be 0 to 65535")
    if given.wyoming_port is not None and not 0 <= given.wyoming_port <= 65535:
        raise FlagError(f"--wyoming_port={given.wyoming_port}: must be 0 to 65535")
    for name in ("threads", "drain_secs"):
        if not getattr(given, name) >= 0:
            raise FlagError(f"--{name}={getattr(given, name)}: must be 0 or more")
    if bool(given.tls_certificate) != bool(given.tls_key):
        raise FlagError("--tls_certificate and --tls_key: give both or neither")
    for name in ("tls_certificate", "tls_key"):
        _check_file(name, getattr(given, name))
    if given.tls_certificate:
        check_certificate(given.tls_certificate, given.tls_key)
    return ServerOptions(
        models=_models(given.model, given.scorer, given.precision),
        host=given.host,
        port=given.port,
        token=_token(given),
        tls_certificate=given.tls_certificate,
        tls_key=given.tls_key,
        wyoming_port=given.wyoming_port,
        allowed_hosts=_listed("allowed_hosts", given.allowed_hosts, HOST, "a name alone, as example.org"),
        allowed_origins=_listed("allowed_origins", given.allowed_origins, ORIGIN, "as https://example.org"),
        endpoints=rules_of(given),
        voice_activity=voice_activity(given) is not None,
        threads=given.threads,
        drain_secs=given.drain_secs,
        limits=_limits(given),
    )


def _limits(given: argparse.Namespace) -> Limits:
    values: dict[str, Any] = {}
    for each in fields(Limits):
        value, least = getattr(given, each.name), each.metadata["least"]
        if not value >= least:
            raise FlagError(f"--{each.name}={value}: must be a number of {least:g} or more")
        if value > LARGEST_LIMIT:
            raise FlagError(f"--{each.name}={value}: must be at most {LARGEST_LIMIT}, which is as good as no limit")
        values[each.name] = value
    return Limits(**values)


def _token(given: argparse.Namespace) -> str | None:
    token = read_token(TOKEN_VARIABLE, "token_file", given.token_file, FlagError)
    is_open = is_reached_from_beyond("host", given.host, FlagError)
    if is_open and token is None:
        needed = f"beyond this machine a secret is needed; give --token_file or {TOKEN_VARIABLE}"
        raise FlagError(f"--host={given.host}: {needed}")
    if is_open and given.wyoming_port is not None and not given.wyoming_unprotected:
        open_to = f"--wyoming_port={given.wyoming_port}: anyone who reaches {given.host} could use it without a secret"
        raise FlagError(f"{open_to}; give --wyoming_unprotected if you trust the network")
    return token


def _models(given: Sequence[str], scorers: Sequence[str], precision: str) -> tuple[ServedModel, ...]:
    named = _named("model", given, DEFAULT_NAME)
    of_models = _named("scorer", scorers, "")
    if unknown := sorted(set(of_models) - set(named) - {""}):
        raise FlagError(f"--scorer={unknown[0]}=…: there is no --model of this name")
    for flag, paths in {"model": named, "scorer": of_models}.items():
        for path in paths.values():
            _check_file(flag, path)
    return tuple(
        ServedModel(name, path, of_models.get(name, of_models.get("")), precision) for name, path in named.items()
    )


def _named(flag: str, given: Sequence[str], default: str) -> dict[str, Path]:
    """Return paths by their names; raise FlagError for a name that is given twice or is empty."""
    found: dict[str, Path] = {}
    for text in given:
        name, separator, path = text.partition("=")
        if not separator or "/" in name:  # a path with an equals sign
            name, path = default, text
        if not path or (separator and not name):
            raise FlagError(f"--{flag}={text}: must be a path, or NAME=PATH")
        if name in found:
            raise FlagError(f"--{flag}={text}: there is another one of this name; give each a name, NAME=PATH")
        found[name] = user_path(path)
    return found


def _check_file(flag: str, path: Path | None) -> None:
    if path is None:
        return
    if (address := address_of(path)) is not None:
        raise FlagError(f"--{flag}={address}: {NOT_HERE}")
    if path.is_dir():
        if flag != "model":  # of a folder without a model, its loading reports it
            raise FlagError(f"--{flag}={path}: is a folder; name a file in it")
    elif not path.is_file():
        raise FlagError(f"--{flag}={path}: {'not a file' if path.exists() else 'there is no such file'}")


def _listed(flag: str, text: str, form: re.Pattern[str], told: str) -> tuple[str, ...]:
    """Return the items of a text between commas; raise FlagError, with the form, for one that no request can have."""
    listed = tuple(filter(None, (each.strip() for each in text.split(","))))
    for each in listed:
        if each != "*" and not form.fullmatch(each):
            raise FlagError(f"--{flag}={each}: no browser sends this; it must be {told}, or * for any")
    return listed


if __name__ == "__main__":
    sys.exit(main())
