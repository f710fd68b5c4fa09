#!/usr/bin/env bash
# golden.sh BURSTSCOPE TRACE_FROM_TEXT JSON_SCHEMA -- what commands answer about small traces that never change, byte for byte.
#
# The lines of commands.txt are NAME FORMATS ARGUMENT...; what is printed is held against NAME.FORMAT here, and what is JSON against
# docs/answer.schema.json, too, which has to object to it with something wrong in it. NNB_BLESS=1 writes those files instead: read them before you commit them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
burstscope=$1 trace_from_text=$2 json_schema=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bless=${NNB_BLESS:-} failures=0 looked=0
export LC_ALL=C.UTF-8 COLUMNS=100 TZ=UTC
unset NO_COLOR BURSTSCOPE_PAGER PAGER XDG_CACHE_HOME

wrong()
{
	echo "golden.sh: $*"
	failures=$((failures + 1))
}

cd "$tmp"
cp "$here"/*.slo .
cp "$here"/*.trace .
# what runs often takes longer, and does so where no other one has the lane
sed 's/^1ms   9:1 x120 every=70us \(.*\) run=20us/300ms 9:1 x120 every=90us \1 run=30us/' camera.trace >slower.trace
for trace in *.trace; do
	name=${trace%.trace}
	"$trace_from_text" -e full -h golden -s "$name" -u "00000000-0000-4000-8000-$(printf '%012d' "${#name}")" \
		-o 1700000000000000000 "$name" <"$trace"
	"$burstscope" import -q -o "$name.db" "$name"
done
# the same recording of a host whose clock is no multiple of a window away from the time of day
"$trace_from_text" -e full -h golden -s shifted -u "00000000-0000-4000-8000-$(printf '%012d' 99)" -o 1700000000069770001 shifted <unfair.trace
"$burstscope" import -q -o shifted.db shifted

# answers FORMAT ARGUMENT...: what is printed, and the status where it is not 0; nothing is said.
answers()
{
	local format=$1 status=0
	shift
	"$burstscope" "$@" --format "$format" >out 2>said || status=$?
	# where it was run, and what made it
	sed -e "s|$tmp|TMP|g" -e 's/burstscope [0-9][0-9.]*/burstscope VERSION/g' out
	((status == 0)) || echo "exit status $status"
	[[ ! -s said ]] || { echo 'on standard error:'; sed "s|$tmp|TMP|g" said; }
}

while read -r name formats arguments; do
	[[ $name && $name != \#* ]] || continue
	eval "arguments=($arguments)"
	for format in ${formats//,/ }; do
		looked=$((looked + 1))
		wanted=$here/$name.$format
		answers "$format" "${arguments[@]}" >seen
		if [[ $format == json ]] && ! "$json_schema" --mutants "$root/docs/answer.schema.json" out >why 2>&1; then
			wrong "$name.json is not as docs/answer.schema.json has it: $(tail -3 why)"
		fi
		if [[ $bless ]]; then
			cp seen "$wanted"
		elif ! diff -u "$wanted" seen >difference 2>&1; then
			wrong "burstscope ${arguments[*]} --format $format is not what it was:"
			head -40 difference
		fi
	done
done <"$here/commands.txt"

# Each once, and no answer that nobody asks for.
awk '$1 && $1 !~ /^#/ { n = split($2, f, ","); for (i = 1; i <= n; i++) print $1 "." f[i] }' "$here/commands.txt" | sort >listed
[[ ! $(uniq -d listed) ]] || wrong "asked twice: $(uniq -d listed)"
find "$here" -name '*.table' -o -name '*.json' -o -name '*.csv' -o -name '*.junit' | sed 's|.*/||' | sort >kept
cmp -s listed kept || wrong "kept and not asked for, or the other way around: $(comm -3 listed kept | tr '\n' ' ')"

((looked > 0)) || wrong 'nothing was looked at'
((failures == 0)) || exit 1
echo "golden.sh: $looked answers are as they were"
