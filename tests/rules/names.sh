#!/usr/bin/env bash
# names.sh TREE [FOLDER...] -- names that stand alone in a backtrace, and are not the C library's; functions that deserve one; claims that
# are asserted. Judges the rooms together, or FOLDERs alone; names of the C library are looked for in the tests, too.
. "$(dirname "$0")/rule.sh"

tree=$1
shift
named=("$@")
(($#)) || named=(tracepoints runtime analyzer viewer-cli tests)
(($#)) || set -- tracepoints runtime analyzer viewer-cli

# at_most PERCENT OF KIND WHAT: of all functions of kind OF. Each one of KIND is shown if there are more.
at_most()
{
	local many place name

	many=$(awk -v of="$2" -v kind="$3" '$1 == "function" && (of == "all" || $3 ~ of) { n++; if ($3 ~ kind) k++ }
		END { print n ? int(100 * k / n + .5) : 0 }' <<<"$prose")
	report+=" $4: $many %;"
	((many > $1)) || return 0
	while read -r _ place _ name; do
		broken "$place: $4: $name"
	done < <(awk -v kind="$3" '$1 == "function" && $3 ~ kind' <<<"$prose")
}

# in_files FILES: no name of a static function stands in more files than that. Each of its places is shown otherwise.
in_files()
{
	local most name n places

	read -r most < <(awk '$1 == "function" && $3 ~ /static/ { split($2, at, ":"); if (!seen[at[1], $4]++ && ++n[$4] > most) most = n[$4] }
		END { print most + 0 }' <<<"$prose")
	report+=" files that share a static function's name: $most;"
	((most > $1)) || return 0
	while read -r name n places; do
		broken "$places: static functions of $n files have the name $name"
	done < <(awk -v most="$1" '$1 == "function" && $3 ~ /static/ { split($2, at, ":")
			if (!seen[at[1], $4]++) { n[$4]++; places[$4] = places[$4] (places[$4] ? " " : "") $2 } }
		END { for (name in n) if (n[name] > most) print name, n[name], places[name] }' <<<"$prose")
}

# asserted FOLDER TENTHS: at least so many asserts in ten thousand lines of its sources.
asserted()
{
	local tenths

	[[ -d $tree/$1 ]] || return 0
	tenths=$(awk -v folder="$1/" 'index($2, folder) == 1 && $1 == "code" { l += $3 } index($2, folder) == 1 && $1 == "assert" { n++ }
		END { print l ? int(10000 * n / l) : 0 }' <<<"$prose")
	report+=" asserts in $1: $((tenths / 10)).$((tenths % 10)) per 1000 lines;"
	((tenths >= $2)) || broken "$1 has $((tenths / 10)).$((tenths % 10)) asserts in 1000 lines, and $(($2 / 10)) are wanted"
}

report=

# Sources that replace a function of the C library in a whole program, on purpose.
replaces='^(tracepoints/outlive|tests/(allocations|fault/test_service_quotas|fuzz/fuzz_decode|unit/(test_dma_buf|test_model_file|test_offer|test_output)))[.]c:'

# libc_names FOLDER...: no function has the name of one of the C library that the compiler links to new programs (those with @@).
libc_names()
{
	local libc place name n=0

	libc=$("${CC:-cc}" -print-file-name=libc.so.6)
	[[ -e $libc ]] || { report+=" no C library to compare names with;"; return 0; }
	while read -r place name; do
		[[ $name ]] || { n=$place; continue; }
		[[ $place =~ $replaces ]] || broken "$place: has the name of a function of the C library: $name"
	done < <(cd "$tree" && nm -D --defined-only "$libc" |
		awk '$2 ~ /^[TWi]$/ && sub(/@@.*/, "", $3) { print $3 }' |
		{ cat; echo; find "$@" -name '*.[ch]' | LC_ALL=C sort | xargs -r grep -HnE '^[a-z_][^=;"]*[ *][a-z_0-9]+\([^;]*$'; } |
		awk '!listed { if ($0 == "") { listed = 1; print n + 0 } else { is_libc[$0]; n++ }; next }
			{ name = $0; sub(/^[^:]*:[^:]*:/, "", name); sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
				split($0, at, ":"); if (name in is_libc) print at[1] ":" at[2], name }')
	((n > 1000)) || broken "nm finds $n functions in $libc"
}

libc_names "${named[@]}"
prose=$(prose_of "$tree" "$@")
at_most 7 all word 'names of one word'
at_most 32 static once 'static functions that are called once'
in_files 4
for folder in runtime runtime/service analyzer/fold; do
	[[ " $* " != *" ${folder%%/*} "* && " $* " != *" $folder "* ]] || asserted "$folder" 50
done
judged "$report"
