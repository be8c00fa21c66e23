# shellcheck shell=bash
# What the run-*.sh recipes share; they source this file.
#
# Sets $root (the repository), $PYTHON (from the environment, else the repository's .venv, else python3), and from the
# leading options $recordings (--from FOLDER) and $work (--work FOLDER); leaves the other arguments in $arguments.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ -z ${PYTHON:-} ]]; then
    PYTHON=python3
    [[ ! -x $root/.venv/bin/python ]] || PYTHON=$root/.venv/bin/python
fi

fail() {
    echo "$(basename "$0"): error: $1" >&2
    exit 1
}

read_options() { # NAME ARGUMENT...: NAME is the default work folder's name
    work=${XDG_CACHE_HOME:-$HOME/.cache}/deepspeech/$1
    recordings=
    shift
    while (($#)); do
        case $1 in
            --from | --work)
                [[ -n ${2:-} ]] || fail "$1 needs a folder"
                if [[ $1 == --from ]]; then recordings=$2; else work=$2; fi
                shift 2
                ;;
            --help)
                sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
                exit 0
                ;;
            *) break ;;
        esac
    done
    arguments=("$@")
    "$PYTHON" -c 'import deepspeech' 2>/dev/null || fail "$PYTHON has no deepspeech; run 'make' in $root, or set PYTHON"
}

deepspeech() {
    "$PYTHON" -m deepspeech "$@"
}
