#!/usr/bin/env bash
# headers.sh INCLUDE_DIR... -- each public header compiles alone, as C11 and as C++17, and shows nobody
# the types of a library we happen to use.
. "$(dirname "$0")/rule.sh"

libraries='sqlite3|babeltrace2|lttng|jansson|xnnpack|cmocka'
looked=0
wants gcc g++
scratch

for include; do
	while read -r header; do
		printf '#include "%s"\ntypedef int not_empty;\n' "$header" >"$tmp/alone.c"
		if ! gcc -std=c11 -pedantic -Wall -Wextra -Werror -I"$include" -MD -MF "$tmp/needs" \
			-fsyntax-only "$tmp/alone.c" 2>"$tmp/said"; then
			broken "$header does not compile alone as C11: $(<"$tmp/said")"
			continue
		fi
		if ! g++ -x c++ -std=c++17 -Wall -Wextra -Werror -I"$include" -fsyntax-only \
			"$tmp/alone.c" 2>"$tmp/said"; then
			broken "$header does not compile alone as C++17: $(<"$tmp/said")"
		fi
		shown=$(tr ' ' '\n' <"$tmp/needs" | sed "s|^$include/||" | grep -E "(^|/)($libraries)" || true)
		[[ $shown ]] && broken "$header shows its reader the types of ${shown//$'\n'/, }"
		looked=$((looked + 1))
	done < <(cd "$include" && find . -name '*.h' -printf '%P\n' | sort)
	((looked + violations > 0)) || broken "no headers below $include"
done
judged "$looked headers compile alone as C11 and C++17"
