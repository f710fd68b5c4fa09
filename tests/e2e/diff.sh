#!/usr/bin/env bash
# diff.sh BURSTSCOPE TRACE_FROM_TEXT TRACES -- what `burstscope diff` compares, what it says of how two recordings were made, and what it refuses.
set -euo pipefail
burstscope=$1 trace_from_text=$2 traces=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0

wrong()
{
	echo "diff.sh: $*"
	failures=$((failures + 1))
}

# database NAME OPTION...: of the trace on standard input.
database()
{
	local name=$1
	shift
	"$trace_from_text" "$@" "$tmp/$name" && "$burstscope" import -q -o "$tmp/$name.db" "$tmp/$name"
}

# ends STATUS A B OPTION...: diff of these ends so; $out is what it prints, $said what it says.
ends()
{
	local wanted=$1 a=$2 b=$3 status=0
	shift 3
	"$burstscope" diff "$@" "$tmp/$a.db" "$tmp/$b.db" >"$tmp/out" 2>"$tmp/said" || status=$?
	out=$(<"$tmp/out") said=$(<"$tmp/said")
	((status == wanted)) || wrong "diff $a $b $* ends with $status, not $wanted: $said$out"
}

prints() { [[ $out == *"$1"* ]] || wrong "not printed: $1 (but: $out)"; }
hides() { [[ $out != *"$1"* ]] || wrong "printed: $1"; }

# refuses STATUS A B WORDS OPTION...: in one line, and nothing is printed.
refuses()
{
	local status=$1 a=$2 b=$3 words=$4
	shift 4
	ends "$status" "$a" "$b" "$@"
	[[ ! $out && $said != *$'\n'* && $said == *"$words"* ]] || wrong "diff $a $b $*: not '$words', but: $said$out"
}

before=$traces/before.trace after=$traces/after.trace
database before -e full -h here <"$before"
database compact -e compact -h here <"$before"
database elsewhere -e full -h there <"$before"
database after -e full -h here <"$after"
sed '/^[0-9]*us /s/$/ side=client/' "$before" | database client -e full -h here
sed 's/name=tracker/name=classifier/' "$before" | database other -e full -h here
sed 's/name=tracker\(.*\)ops=10/name=tracker\1ops=12/' "$before" | database changed -e full -h here
sed $'s/name=camera/name=\e[31mcam/' "$after" | database hostile -e full -h here
sed 's/ x5 every=1ms/ x1/' "$before" | database few -e full -h here

# ---- the same ----

ends 0 before before --verdict
prints 'not distinguishable'
hides 'the services had other rules'
hides 'recorded on other machines'
ends 0 before compact --verdict
prints 'not distinguishable'
prints 'A was recorded in full detail, B was not'
ends 0 before elsewhere
prints 'recorded on other machines: A: here; B: there'
ends 0 before changed
prints 'tracker is not the same model: in A it has 10 operations'

# ---- what changed ----

ends 1 before after --verdict
prints 'slower: camera/tracker burst warm: p50 +29.9 %'
prints 'mostly queue (+65.000 us of +65.000 us on average)'
prints 'A: policy fair, preempt save, 1 lane; B: policy fifo, preempt save, 1 lane'
same=$out
ends 1 before after --verdict
[[ $out == "$same" ]] || wrong 'the same recordings give other numbers'
ends 0 after before --verdict
prints 'faster: camera/tracker burst warm: p50 -23 %'
ends 0 before after # it was not asked whether
ends 0 before after --verdict --least 50
prints 'not distinguishable'
ends 0 before after --verdict --where "path = 'sync'"
ends 1 before after --format json --verdict --part phases
prints '"phase":"queue","mean_by_ns":65000'
ends 0 before after --show-sql
prints 'FROM picked ORDER BY id'
hides 'slower'

ends 0 hostile hostile
prints '31mcam/tracker burst warm'
hides $'\e'

# ---- what cannot be told, or compared ----

ends 3 few before --verdict --where "path = 'burst'"
prints 'cannot tell: too few executions'
refuses 4 before client 'in one the client alone was recorded, in the other both'
refuses 4 before other 'no app ran the same model in the same way in both'
refuses 4 before after 'no complete execution was picked' --where "app = 'nobody'"
refuses 2 before after "--least: 'much' is no number of percent from 0 to 1000" --least much
refuses 2 before after "--least: '-1' is no number of percent" --least=-1
refuses 2 before after "--least: 'nan' is no number of percent" --least nan
refuses 2 before after "executions have no 'nonsense'" --where 'nonsense = 1'

((failures == 0)) || exit 1
