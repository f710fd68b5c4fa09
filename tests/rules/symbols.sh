#!/usr/bin/env bash
# symbols.sh PREFIX LIBRARY... -- everything that a shared library exports, and that the files of a static one share, carries the prefix of its room. The
# xnnpack driver also exports the loops of libpthreadpool, for XNNPACK to find (driver/xnnpack/tiles.c).
. "$(dirname "$0")/rule.sh"

prefix=$1
shift
wants nm

for library; do
	looked=0 shared=-D
	[[ $library != *.a ]] || shared=--extern-only
	while read -r symbol; do
		[[ $library == */driver-xnnpack.so && $symbol == pthreadpool_* ]] && continue
		[[ $symbol != *:* ]] || continue # the name of an object file
		[[ $symbol == "$prefix"* ]] || broken "$(basename "$library") exports $symbol, not $prefix..."
		looked=$((looked + 1))
	done < <(nm "$shared" --defined-only --format=posix "$library" | cut -d' ' -f1)
	((looked > 0)) || broken "$(basename "$library") exports nothing at all"
done
judged "what $# libraries export starts with $prefix"
