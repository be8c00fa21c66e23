#!/usr/bin/env bash
# The command-line tools: they write their files, or say what is wrong in one line before the usage.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0

fail() {
    echo "FAILED $1: $2"
    exit 1
}

writes() {
    local file=$1
    shift
    "$@" >"$folder/output" 2>&1 || fail "$*" "$(cat "$folder/output")"
    [[ -s $file ]] || fail "$*" "$file was not written"
    passed=$((passed + 1))
}

refuses() {
    local message=$1
    shift
    if "$@" >"$folder/output" 2>&1; then fail "$*" "it should have failed"; fi
    head -n 1 "$folder/output" | grep -q -- "$message" || fail "$*" "$(cat "$folder/output")"
    passed=$((passed + 1))
}

make --dry-run --always-make | grep -e '-o generate_scorer$' >"$folder/output" || fail make 'without a goal, it makes something else'
printf '# comment\n \na\nb\n\\#\n' >"$folder/alphabet.txt"
printf '%s\n' '\data\' 'ngram 1=5' 'ngram 2=1' '' '\1-grams:' $'-1\t<unk>\t0' $'-1\t<s>\t0' $'-1\t</s>\t0' \
    $'-1\ta\t0' $'-1\tb#\t0' '' '\2-grams:' $'-1\ta b#' '' '\end\' >"$folder/lm.arpa"
files=(--alphabet "$folder/alphabet.txt" --lm "$folder/lm.arpa")

writes "$folder/lm.trie" ./generate_trie "${files[@]}" --trie "$folder/lm.trie"
writes "$folder/lm.scorer" ./generate_scorer "${files[@]}" --package "$folder/lm.scorer" --default_alpha 0.5
writes "$folder/bytes.trie" ./generate_trie --lm "$folder/lm.arpa" --unit character --trie "$folder/bytes.trie"
writes "$folder/default.scorer" ./generate_scorer "${files[@]}" --package "$folder/default.scorer"
usage=$(./generate_scorer --help 2>&1 || true)
mapfile -t weights < <(grep -o -e '--default_[a-z]* [0-9.]*' <<<"$usage" | tr ' ' '\n')
[[ ${#weights[@]} == 4 ]] || fail 'generate_scorer --help' "its usage has no defaults: $usage"
writes "$folder/same.scorer" ./generate_scorer "${files[@]}" --package "$folder/same.scorer" "${weights[@]}"
cmp -s "$folder/default.scorer" "$folder/same.scorer" || fail 'generate_scorer' "its defaults are not ${weights[*]}"
printf '\xef\xbb\xbf# comment\r\n \r\na\r\nb\r\n\\#\r\n' >"$folder/windows.txt"
writes "$folder/windows.scorer" ./generate_scorer --alphabet "$folder/windows.txt" --lm "$folder/lm.arpa" \
    --package "$folder/windows.scorer"
cmp -s "$folder/default.scorer" "$folder/windows.scorer" || fail 'generate_scorer' 'it reads a BOM as part of a label'
refuses 'unknown argument --trye' ./generate_trie "${files[@]}" --trye x
refuses '--trie is missing' ./generate_trie "${files[@]}"
refuses "neither 'word' nor 'character'" ./generate_trie "${files[@]}" --trie "$folder/x" --unit byte
refuses "must be a number" ./generate_scorer "${files[@]}" --package "$folder/x" --default_beta two
refuses "must be finite" ./generate_scorer "${files[@]}" --package "$folder/x" --default_alpha nan
refuses 'cannot be opened' ./generate_trie --alphabet "$folder/none" --lm "$folder/lm.arpa" --trie "$folder/x"
refuses 'cannot be used as a KenLM' ./generate_trie --alphabet "$folder/alphabet.txt" --lm "$folder/lm.trie" --trie x
[[ ! -e $folder/x ]] || fail 'a refusal' 'it left a file'
echo "$passed passed, 0 failed"
