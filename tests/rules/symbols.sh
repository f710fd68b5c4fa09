#!/usr/bin/env bash
# symbols.sh PREFIX LIBRARY -- everything a shared library exports carries the prefix of its room.
. "$(dirname "$0")/rule.sh"

prefix=$1 library=$2 looked=0
wants nm

while read -r symbol; do
	[[ $symbol == "$prefix"* ]] || broken "$(basename "$library") exports $symbol, not $prefix..."
	looked=$((looked + 1))
done < <(nm -D --defined-only --format=posix "$library" | cut -d' ' -f1)

((looked > 0)) || broken "$(basename "$library") exports nothing at all"
judged "$looked symbols of $(basename "$library") start with $prefix"
