#!/usr/bin/env bash
# Train on a cluster of processes on this machine.
#
#     bin/run-cluster.sh PS:WORKERS[:GPUS] -- FLAG...
#
# Starts PS parameter servers (0: the workers hold the weights, as with --sync allreduce) and WORKERS workers, each with
# its own GPUS devices (default 0: the CPU), on the ports from $BASE_PORT on (default 2300; --coord_port sets the
# coordinator's port). The FLAGs are those of deepspeech-train. Logs go to stderr, prefixed by node.
# When a node fails permanently, all nodes are ended, and the exit code is 1. SIGINT, SIGTERM and SIGHUP stop the
# chief, which saves, however long that takes. Then the exit code is 143, and the same command continues from there.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shared/recipe.sh"

[[ ${1:-} != --help ]] || show_help
[[ ${1:-} =~ ^(0|[1-9][0-9]*):([1-9][0-9]*)(:([0-9]+))?$ ]] || fail "expected PS:WORKERS[:GPUS], such as 1:2; --help says more"
servers=${BASH_REMATCH[1]} workers=${BASH_REMATCH[2]} gpus=${BASH_REMATCH[4]:-0}
shift
[[ ${1:-} == -- ]] || fail "expected -- before the trainer's flags"
shift

hosts() { # COUNT FIRST_PORT
    local list=() index
    for ((index = 0; index < $1; index++)); do list+=("localhost:$(($2 + index))"); done
    (IFS=,; echo "${list[*]}")
}

base=${BASE_PORT:-2300}
cluster=(--sync allreduce)
((!servers)) || cluster=(--ps_hosts "$(hosts "$servers" "$base")")
cluster+=(--worker_hosts "$(hosts "$workers" $((base + servers)))")
devices=()
for ((task = 0; task < workers; task++)); do
    devices+=("$(seq -s, $((task * gpus)) $(((task + 1) * gpus - 1)))")
done
pids=()

start() { # JOB TASK DEVICES ARGUMENT...
    local job=$1 task=$2 visible=$3
    shift 3
    CUDA_VISIBLE_DEVICES=$visible "$PYTHON" -m deepspeech "${cluster[@]}" --job_name "$job" --task_index "$task" "$@" \
        2> >(trap '' INT TERM HUP; exec sed -u "s/^/[$job $task] /" >&2) & # Ctrl-C and supervisors signal all processes
    pids+=($!)
}

end_all() {
    kill -KILL "${pids[@]}" 2>/dev/null || true
}
trap end_all EXIT

# No $(...) from here on: a trap that runs while bash 5.2 waits for one is a syntax error, and the exit code is 2.
stopped=0
trap 'stopped=1' INT TERM HUP # while nodes are being started, the chief's process may not be known yet

for ((task = 0; task < servers; task++)); do start ps "$task" "" "$@"; done
for ((task = 0; task < workers; task++)); do start worker "$task" "${devices[task]}" "$@"; done
chief=${pids[servers]}

stop_chief() {
    kill -TERM "$chief" 2>/dev/null || true
}
trap stop_chief INT TERM HUP
((!stopped)) || stop_chief

failed=0 code=0 over=0
running=("${pids[@]}")
# After a node has failed or the chief was stopped, the other nodes, which learn of it if they have joined, get 20
# seconds to end and report why.
while ((${#running[@]})) && ((over < 100)); do
    still=()
    for pid in "${running[@]}"; do
        if kill -0 "$pid" 2>/dev/null; then
            still+=("$pid")
        else
            ended=0
            wait "$pid" || true # bash may first report an earlier signal to this script
            wait "$pid" || ended=$?
            case $ended in
                0) ;;
                129 | 130 | 143) ((pid != chief)) || code=143 ;; # nodes other than the chief may be stopped alone
                *) failed=1 ;;
            esac
        fi
    done
    running=(${still[@]+"${still[@]}"})
    ((!failed && code == 0)) || ((++over))
    sleep 0.2 || true
done
exit $((failed ? 1 : code))
