#!/usr/bin/env bash
# symbols.sh PREFIX LIBRARY... -- everything a shared library exports carries the prefix of its room. The xnnpack driver also exports
# the loops of libpthreadpool, for XNNPACK to find (driver/xnnpack/tiles.c).
. "$(dirname "$0")/rule.sh"

prefix=$1
shift
wants nm

for library; do
	looked=0
	while read -r symbol; do
		[[ $library == */driver-xnnpack.so && $symbol == pthreadpool_* ]] && continue
		[[ $symbol == "$prefix"* ]] || broken "$(basename "$library") exports $symbol, not $prefix..."
		looked=$((looked + 1))
	done < <(nm -D --defined-only --format=posix "$library" | cut -d' ' -f1)
	((looked > 0)) || broken "$(basename "$library") exports nothing at all"
done
judged "what $# libraries export starts with $prefix"
