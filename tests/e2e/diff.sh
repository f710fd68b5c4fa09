#!/usr/bin/env bash
# diff.sh BURSTSCOPE TRACE_FROM_TEXT TRACES -- what `burstscope diff` compares, its words about how two recordings were
# made, and its refusals.
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

# database NAME OPTION...: make the database of the trace on standard input.
database()
{
	local name=$1
	shift
	"$trace_from_text" "$@" "$tmp/$name" && "$burstscope" import -q -o "$tmp/$name.db" "$tmp/$name"
}

# ends STATUS A B OPTION...: run diff of these; it must end with STATUS. $out has its output, $said its standard error.
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

# refuses STATUS A B WORDS OPTION...: the same; it must print one line of error with WORDS, and no output.
refuses()
{
	local status=$1 a=$2 b=$3 words=$4
	shift 4
	ends "$status" "$a" "$b" "$@"
	[[ ! $out && $said != *$'\n'* && $said == *"$words"* ]] || wrong "diff $a $b $*: not '$words', but: $said$out"
}

# several STATUS OPTION... -- NAME... -- NAME...: the same for several recordings a side.
several()
{
	local wanted=$1 status=0 words=()
	shift
	while [[ $1 != -- ]]; do words+=("$1") && shift; done
	shift
	while [[ $1 != -- ]]; do words+=("$tmp/$1.db") && shift; done
	words+=(--)
	shift
	for name; do words+=("$tmp/$name.db"); done
	"$burstscope" diff "${words[@]}" >"$tmp/out" 2>"$tmp/said" || status=$?
	out=$(<"$tmp/out") said=$(<"$tmp/said")
	((status == wanted)) || wrong "diff ${words[*]} ends with $status, not $wanted: $said$out"
}

# row WORDS: the table must have a line with these words, in this order, with any spaces between.
row()
{
	local pattern
	pattern=$(sed 's/[][\.*^$+?(){}|/]/\\&/g; s/ \+/ +/g' <<<"$1")
	grep -Eq -- "$pattern" "$tmp/out" || wrong "no row: $1 (but: $out)"
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

# ---- equal recordings ----

ends 0 before before --verdict
prints "Changes: none; 9 comparisons, not distinguishable"
hides 'differing settings'
hides 'recorded on other machines'
ends 0 before compact --verdict
prints 'not distinguishable'
prints 'A was recorded in full detail, B was not'
ends 0 before elsewhere
prints 'recorded on different machines: A: here; B: there'
ends 0 before changed
prints 'tracker is not the same model: in A it has 10 operations'
hides 'names only'

# the name of a machine may begin as another one's does, and a side has no order
for host in build10 build1; do
	for n in 1 2; do
		database "$host-$n" -e full -h "$host" -u "00000000-0000-0000-0000-0000000000$n${#host}" <"$before"
	done
done
several 0 -- build10-1 build1-1 -- build10-2 build1-2
hides 'different machines'
several 0 -- build10-1 build1-1 -- build1-2 build10-2
hides 'different machines'
several 0 -- build10-1 build1-1 -- build10-2
prints 'recorded on different machines: A: build1, build10; B: build10'

# 70 models more than the first 64: whether they are the same is not asked, and that is said
{ sed '/^0 stream_open/,$d' "$before"; for i in {100..169}; do echo "0 model_prepare model=$i conn=1 name=a$i priority=medium ops=10 estimate_ns=100us step_ns=10us"; done
	sed -n '/^0 stream_open/,$p' "$before"; } >"$tmp/many.trace"
database many -e full -h here <"$tmp/many.trace"
ends 0 before many
prints 'whether a model is the same was asked of the first 64 names only'

# ---- changes ----

ends 1 before after --verdict
row 'camera/tracker burst warm p50 slower 201.0 us 261.0 us 29.9 queue (+60.10 us)'
prints 'FAIL: slower 2, bound 0'
prints 'differing settings'
row 'policy fair fifo'
same=$out
ends 1 before after --verdict
[[ $out == "$same" ]] || wrong 'the same recordings give other numbers'
ends 0 after before --verdict
row 'camera/tracker burst warm p50 faster 261.0 us 201.0 us -23.0 queue (-60.10 us)'
ends 0 before after # without --verdict the status is 0
ends 0 before after --verdict --least 50
ends 0 before after --verdict --margin 50
ends 0 before after --verdict --where "path = 'sync'"
ends 1 before after --format json --verdict --part phases
prints '"phase":"queue","part_ns":60097,"near":"p50","effect":1'
ends 0 before after --show-sql
prints "FROM picked WHERE path IS NOT 'prepare' ORDER BY id"
hides 'Latency'

ends 0 hostile hostile
prints '31mcam/tracker burst warm'
hides $'\e'

# ---- phases: diff names those whose executions differ, not those that vary most ----

# varied NAME SLOTS REPLY: 200 executions; return takes from 10 to 400 us, by turns.
varied()
{
	{
		sed -n '/^usual/p; /^0 /p' "$before"
		for i in {1..200}; do
			echo "$((1000 * i))us 1:$i slots=$2 reply=$3 return=$((10 + 13 * (i * 7 % 31)))us"
		done
	} | database "$1" -e full -h here
}
varied calm 5us 10us
varied busy 155us 80us
ends 1 calm busy --verdict
prints 'slots (+150.0 us), reply (+70.00 us)'
hides 'return (+'

# ---- misses and answers ----

# missing NAME EXECUTION...: 60 executions, as the words describe.
missing()
{
	{
		sed -n '/^usual/p; /^0 /p' "$before"
		for i in {1..60}; do echo "$((1000 * i))us 1:$i ${*:2}"; done
	} | database "$1" -e full -h here
}
missing met deadline=315us
missing late deadline=315us run=400us
missing aborted deadline=315us dies=queue queue=300us status=5 over=1us
missing answered
missing refused status=2
ends 0 met met --verdict
ends 1 met late --verdict
row 'camera/tracker burst misses more 0 of 60 60 of 60'
ends 1 met aborted --verdict
row 'camera/tracker burst misses more 0 of 60 60 of 60'
row 'camera/tracker burst answers fewer 60 of 60 0 of 60'
prints 'FAIL: more misses 1'
prints 'FAIL: fewer answers 1'
ends 1 answered refused --verdict
row 'camera/tracker burst failures more 0 of 60 60 of 60'
prints 'FAIL: more failures 1'
ends 0 aborted met --verdict
row 'camera/tracker burst misses fewer 60 of 60 0 of 60'

# ---- holes: no pass for figures that they touch; a change stands if no hole can hide its cause ----

{ cat "$before"; echo 'lose 100000us 101000us 1:40'; } | database holed -e full -h here
{ cat "$after"; echo 'lose 100000us 101000us 1:40'; } | database holed_after -e full -h here
ends 3 before holed --verdict
row 'camera/tracker burst warm p50 cannot tell'
prints 'cannot tell: slower: 0 of 4 comparisons worse, 4 uncertain'
ends 3 holed before --verdict
ends 1 before holed_after --verdict
prints 'FAIL: slower'

# ---- apps and models that disappear ----

sed '/^[0-9]*us 1:/d' "$before" | database gone -e full -h here
ends 3 before gone --verdict
row 'camera/tracker burst warm p50 only in A'
row 'camera/tracker burst warm p10 only in A'
[[ $out =~ ([0-9]+)' cannot tell' ]]
rows=$(sed -n '1,/^$/p' <<<"$out" | grep -cE 'only in A|too few in B|  cannot tell')
((BASH_REMATCH[1] == rows)) || wrong "the headline counts ${BASH_REMATCH[1]} that cannot be told, the table has $rows: $out"
hides 'only in B'
ends 0 gone before --verdict
row 'camera/tracker burst warm p50 only in B'
prints ', 1 group only in B'
{ sed '/^[0-9]*us 1:\([6-9]\|[0-9][0-9]\)/d' "$before"; echo '30000us 1:6 run=1s'; echo 'stop 900ms'; } | database hung -e full -h here
ends 3 before hung --verdict

# ---- settings ----

sed 's/spin_us=50/spin_us=60/' "$before" | database polls -e full -h here
sed 's/spin_us=50/spin_us=500/; s/lanes=1/lanes=2/; s/\(stream_open stream=1.*\)/\1 cache=none/' "$before" | database plain -e full -h here
sed 's/\(stream_open stream=1.*\)/\1 cache=slots/' "$before" | database cached -e full -h here
ends 0 before polls
hides 'spin_us'
ends 0 cached plain
row 'burst_mappings slots none'
row 'lanes 1 2'
row 'spin_us 50 500'

# ---- several recordings a side ----

for i in 1 2 3 4; do
	sed "s/send=18us/send=1${i}us/" "$before" | database "a$i" -e full -h here -u "00000000-0000-4000-8000-00000000000$i"
	sed "s/send=18us/send=1${i}us/" "$after" | database "b$i" -e full -h here -u "00000000-0000-4000-8000-00000000001$i"
done
several 0 --verdict -- a1 a2 -- a3 a4
prints 'The recording is the unit: errors are those between 2 and 2 recordings'
prints 'A is 2 recordings'
several 1 --verdict -- a1 a2 a3 a4 -- b1 b2 b3 b4
prints 'FAIL: slower'
hides 'assumed'
several 3 --verdict -- b1 b2 b3 b4 -- a1 a2 a3 a4 # the photos are missing
row 'photos/thumbnails burst warm p50 only in A'
several 1 --verdict -- a1 -- b1
several 1 --verdict -- a1 a2 a3 -- b1
several 2 -- a1 a1 -- b1
[[ $said == *'are the same recording; name it once for A' ]] || wrong "not refused as given twice: $said"
"$burstscope" diff "$tmp/a1.db" "$tmp/a2.db" "$tmp/b1.db" >"$tmp/out" 2>"$tmp/said" && wrong 'three recordings without --'
grep -q 'separate several recordings of A and B by --' "$tmp/said" || wrong "three recordings without --: $(<"$tmp/said")"

# ---- comparisons without a verdict, and refusals ----

ends 3 few before --verdict --where "path = 'burst'"
prints 'too few executions in A'
refuses 4 before client 'one recorded the side client, the other both'
refuses 4 before other 'no app ran the same model in the same way in both'
refuses 4 before after 'no complete execution was picked' --where "app = 'nobody'"
refuses 2 before after "--least: 'much' is not a percentage from 0 to 1000" --least much
refuses 2 before after "--least: '-1' is not a percentage" --least=-1
refuses 2 before after "--margin: 'nan' is not a percentage" --margin nan
refuses 2 before after "executions have no 'nonsense'" --where 'nonsense = 1'

((failures == 0)) || exit 1
