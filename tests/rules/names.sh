#!/usr/bin/env bash
# names.sh TREE [FOLDER...] -- names that stand alone in a backtrace, functions that deserve one, claims that are asserted. Judges the
# rooms together, or FOLDERs alone.
. "$(dirname "$0")/rule.sh"

tree=$1
shift
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

prose=$(prose_of "$tree" "$@")
report=
at_most 7 all word 'names of one word'
at_most 32 static once 'static functions that are called once'
for folder in runtime runtime/service analyzer/fold; do
	[[ " $* " != *" ${folder%%/*} "* && " $* " != *" $folder "* ]] || asserted "$folder" 50
done
judged "$report"
