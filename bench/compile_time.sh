#!/bin/sh
# What brim costs a compiler: processor seconds and preprocessed lines of the umbrella, and of a static plan of 8 devices
# and 64 microbatches, against an empty file. The least of 5 runs.
set -eu
cd "$(dirname "$0")/.."

runs=5
compilers=""
for argument in "$@"; do
  case $argument in
    --once | --benchmark_min_time=0) runs=1 ;;
    --benchmark_filter=*)
      part=${argument#*=}
      if [ "$part" != . ] && [ "$part" != all ] && ! echo compile_time | grep -qF -- "$part"; then exit 0; fi
      ;;
    --benchmark_*) ;;
    -*)
      echo "bench/compile_time.sh [--once] [compiler...]: what brim costs a compiler; default: every g++ and clang++"
      if [ "$argument" = --help ]; then exit 0; else exit 2; fi
      ;;
    *) compilers="$compilers $argument" ;;
  esac
done

if [ -z "$compilers" ]; then
  for name in g++ clang++; do
    for suffix in "" -12 -13 -14 -15 -16 -17 -18 -19 -20 -21 -22; do
      path=$(command -v "$name$suffix" 2>/dev/null) || continue
      if printf 'int main() {}\n' | "$path" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; then compilers="$compilers $path"; fi
    done
  done
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf 'int main() {}\n' >"$scratch/empty.cpp"
printf '#include <brim/brim.hpp>\nint main() {}\n' >"$scratch/umbrella.cpp"
cat >"$scratch/static_plan.cpp" <<'END'
#include <brim/brim.hpp>
constexpr auto plan = brim::static_plan<brim::schemes::one_f_one_b{}, brim::pipeline_shape{.devices = 8, .microbatches = 64}>(
    brim::uniform_cost{.forward = 1, .backward = 2});
static_assert(plan.makespan() == 3 * (64 + 8 - 1));
int main() {}
END

# lines <compiler> <source>: without markers and blank lines
lines() { "$1" -std=c++20 -Iinclude -E "$2" | grep -v '^#' | grep -c '[^[:space:]]'; }

# seconds <compiler> <source>: user and system time, the least of all runs
seconds() {
  i=0
  while [ "$i" -lt "$runs" ]; do
    # The last line of `times` is what the children took: 0m1.25s 0m0.10s
    ("$1" -std=c++20 -Iinclude -c "$2" -o "$scratch/out.o" && times) | tail -n 1
    i=$((i + 1))
  done | awk '{ total = 0
                for (field = 1; field <= 2; ++field) { split($field, part, /[ms]/); total += 60 * part[1] + part[2] }
                if (NR == 1 || total < least) least = total }
              END { printf "%.2f\n", least }'
}

verdict() { awk -v value="$1" -v goal="$2" 'BEGIN { print value <= goal ? "met" : "MISSED by " value - goal }'; }

seen=""
for compiler in $compilers; do
  real=$("$compiler" --version | head -n 1)
  case $seen in *"|${real#* }|"*) continue ;; esac # the same compiler with and without a version in its name
  seen="$seen|${real#* }|"
  echo "$real, without optimization, least of $runs"
  echo "  file              lines   seconds"
  for file in empty umbrella static_plan; do
    count=$(lines "$compiler" "$scratch/$file.cpp")
    time=$(seconds "$compiler" "$scratch/$file.cpp")
    printf '  %-14s %8s  %8s\n' "$file" "$count" "$time"
    case $file in
      umbrella) umbrella_lines=$count umbrella_time=$time ;;
      static_plan) plan_time=$(awk -v a="$time" -v b="$umbrella_time" 'BEGIN { printf "%.2f", a - b }') ;;
    esac
  done
  echo "  umbrella: $umbrella_lines lines, goal at most 40000: $(verdict "$umbrella_lines" 40000)"
  echo "  static_plan of 8 x 64 adds $plan_time s, goal at most 0.5: $(verdict "$plan_time" 0.5)"
done
