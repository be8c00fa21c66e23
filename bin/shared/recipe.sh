# shellcheck shell=bash
# Functions of the run-*.sh recipes, which source this file.
#
# Sets $root (the repository) and $PYTHON (from the environment, else the repository's .venv, else python3).

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [[ -z ${PYTHON:-} ]]; then
    PYTHON=python3
    [[ ! -x $root/.venv/bin/python ]] || PYTHON=$root/.venv/bin/python
fi

fail() {
    echo "$(basename "$0"): error: $1" >&2
    exit 1
}

show_help() { # prints the head of the script
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
    exit 0
}

choose_work_folder() { # NAME ARGUMENT...: sets $work from --work FOLDER, in any place, and $arguments to the others
    work=${XDG_CACHE_HOME:-~/.cache}/deepspeech/$1 # without HOME, the account has a home
    shift
    arguments=()
    while (($#)); do
        case $1 in
            --help) show_help ;;
            --work | --work=*)
                [[ $1 == --work ]] || set -- --work "${1#*=}" "${@:2}"
                [[ -n ${2:-} ]] || fail "--work needs a folder"
                work=$2
                shift
                ;;
            *) arguments+=("$1") ;;
        esac
        shift
    done
}

check_python() {
    "$PYTHON" -c 'import deepspeech' 2>/dev/null || fail "$PYTHON has no deepspeech; run 'make' in $root, or set PYTHON"
}

path_of() { # NAME: prints the path of a program that is installed beside $PYTHON
    echo "$(dirname "$(command -v "$PYTHON")")/$1"
}

experiment() { # NAME FLAG...: run an experiment
    [[ ${2:-} != --help ]] || show_help
    check_python
    "$PYTHON" -m deepspeech --experiment "$@"
}
