#!/bin/sh
# Plans published BERT set-ups with and without K-FAC in the bubbles, and shows what brim makes of them.
# Usage: demo.sh <the brim command> [folder for the files, default ./brim-demo] [schemes of the last table, default all]
set -eu

brim=${1:?usage: demo.sh <the brim command> [folder]}
folder=${2:-brim-demo}
schemes=${3:-}
profiles=$(dirname "$0")/profiles
mkdir -p "$folder"

headline() { printf '\n=== %s\n\n' "$*"; }

# plan <name> <profile> <scheme>: prints the plan before and after K-FAC and writes its files.
plan() {
  headline "$1"
  set -- "$folder/$1" "$profiles/$2.json" "$3"
  "$brim" plan --profile "$2" --scheme "$3" --fill kfac \
    --json "$1.plan.json" --trace "$1.trace.json" --svg "$1.svg" --csv "$1.csv"
  "$brim" verify "$1.plan.json"
}

# cell <file> <column>: of the row for all devices.
cell() {
  awk -F, -v column="$2" '
    NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i }
    $7 == "all" { print $at }' "$1"
}

# row <name>: a line of the table, from the metrics.
row() {
  file=$folder/$1.csv
  printf '%s %s %s %s %s %s %s\n' "$1" "$(cell "$file" utilization_before)" "$(cell "$file" utilization)" "$(cell "$file" bound)" \
    "$(cell "$file" refresh_interval)" "$(cell "$file" greatest_age)" "$(cell "$file" overhead)" |
    awk '{ printf "%-22s %8.1f %8.1f %8.1f %9.2f %4d %11.1f\n", $1, 100 * $2, 100 * $3, 100 * $4, $5, $6, 100 * $7 }'
}

plan bert-base-gpipe bert-base-p100 gpipe
plan bert-base-1f1b bert-base-p100 1f1b
plan bert-base-chimera bert-base-p100 chimera
plan bert-large-chimera bert-large-p100-head chimera

headline "before and after K-FAC: 4 devices and 4 microbatches (base), 8 and 8 (large)"
echo "plan                   before %  after %  bound %  interval  age  overhead %"
for name in bert-base-gpipe bert-base-1f1b bert-base-chimera bert-large-chimera; do row "$name"; done
cat <<'END'
published, large                                                   about 6.5

before, after: busy share of the devices' time; the published figures for the large model are 59.8 and 97.6. bound: what no
fill exceeds. interval: steps from one refresh of a layer to its next, worst layer. age: of the oldest curvature in use, in
steps. overhead: what preconditioning adds to a step. The large profile has a language-model head on the last stage and
transfers of 2 ms, chosen so that the share before is the published one. The published inputs are not known in full, and the
paper counts communication as busy; brim does not.
END

headline "time to train, from the last of these timelines"
training_time=$(dirname "$brim")/example_training_time
if [ -x "$training_time" ]; then
  "$training_time" "$(dirname "$0")"
else
  echo "build the target example_training_time to see it"
fi

headline "what more memory would buy: brim search --profile bert-large-p100-head.json --microbatches 16 --budget 100000"
"$brim" search --profile "$profiles/bert-large-p100-head.json" --microbatches 16 --budget 100000

headline "every scheme on the profile of the 8 devices: brim compare --profile bert-large-p100-head.json"
"$brim" compare --profile "$profiles/bert-large-p100-head.json" ${schemes:+--schemes "$schemes"}

headline "files"
echo "Plans (.plan.json), pictures (.svg), traces for https://ui.perfetto.dev (.trace.json) and metrics (.csv) are in"
(cd "$folder" && pwd)
