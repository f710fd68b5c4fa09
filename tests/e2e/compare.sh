#!/usr/bin/env bash
# compare.sh BURSTSCOPE SERVICE LOAD DRIVER -- `burstscope diff` of recordings of a running service: of one build, of
# one whose operations take longer, of one whose deadlines are missed, and of other settings.
#
# Other work of the machine may spoil a comparison, so each is recorded up to three times. With NNB_SOAK_SECONDS the
# script goes on for that long and counts how many pairs of one build fail or change, and how many other pairs are
# found. ./run soak 60 compare prints that.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
burstscope=$1 service=$tmp/service load=$3 driver=$4

# The device of this service is the cpu: where this user may, raise its priority over other work of the machine.
{
	echo '#!/bin/sh'
	nice -n -10 true 2>"$tmp/null" && echo "exec nice -n -10 '$2' \"\$@\""
	echo "exec '$2' \"\$@\""
} >"$service"
chmod +x "$service"

scenario camera '{"duration": "1s", "apps": [{"name": "camera", "streams": [{"model": "mobilenet", "think": "2ms", "deadline": "50ms"}]}]}'
scenario tight '{"duration": "1s", "apps": [{"name": "camera", "streams": [{"model": "mobilenet", "think": "2ms", "deadline": "300us"}]}]}'
mobilenet=30 # operations

# record NAME SCENARIO PERCENT DURATION OPTION...: record into $tmp/NAME.db; each operation takes PERCENT longer.
record()
{
	local name=$1 what=$2 percent=$3 duration=$4
	shift 4

	session "$name" DEBUG_FUNCTION
	NNB_SLOWER="$mobilenet $percent" start_service "$service" --driver "$driver" "$@"
	quietly "$load" --quiet --socket "$tmp/socket" --duration "$duration" "$tmp/$what.json"
	stop_service || wrong "$name: nnburstd does not end well"
	end_session "$name"
	quietly "$burstscope" import -q -o "$tmp/$name.db" "$tmp/$name"
	rm -r "${tmp:?}/$name"
}

# compare STATUS A... -- B...: true if the verdict ends with STATUS; $tmp/changes.csv has the changes.
compare()
{
	local wanted=$1 status=0
	shift
	"$burstscope" diff --verdict --format csv "$@" >"$tmp/changes.csv" 2>"$tmp/said" || status=$?
	((status == wanted)) || { said="ends with $status, not $wanted: $(cat "$tmp/said" "$tmp/changes.csv")"; return 1; }
}

# changed: true if the last comparison had a change.
changed() { grep -Eq '^[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,(slower|faster|more|fewer),' "$tmp/changes.csv"; }

# named PHASE: true if each slower latency names this phase first.
named() { grep -Eq ",slower,.*,\"?$1 " "$tmp/changes.csv"; }

# tries WHAT COMMAND...: COMMAND must succeed once in three tries.
tries()
{
	local what=$1 try
	shift
	for try in 1 2 3; do
		said=
		"$@" "$try" && return
		echo "compare: $what, try $try: $said"
	done
	wrong "$what: not in three tries"
}

# ---- a few comparisons, for every change of the code ----

same_build() { record "again$1" camera 0 1200ms --lanes 1; record first camera 0 1200ms --lanes 1
	compare 0 "$tmp/first.db" -- "$tmp/again$1.db"; }
slower_build() { record "slower$1" camera 300 1200ms --lanes 1; compare 1 "$tmp/first.db" -- "$tmp/slower$1.db" && named run; }
late_build() { record "late$1" tight 0 1200ms --lanes 1; compare 1 "$tmp/first.db" -- "$tmp/late$1.db" && grep -q ',misses,more,' "$tmp/changes.csv"; }

settings()
{
	local part
	record other camera 0 600ms --lanes 2 --policy fifo --preempt none --spin none --plain-bursts
	part=$("$burstscope" diff --part settings --format csv "$tmp/first.db" "$tmp/other.db")
	for row in 'burst_mappings,slots,none' 'policy,fair,fifo' 'preempt,save,none' 'lanes,1,2' 'spin_us,[0-9]+,0'; do
		grep -Eq "^$row\$" <<<"$part" || wrong "settings: no $row, but: $part"
	done
}

# A model that runs long enough measures the machine's speed in every recording: diff compares the cpu time of its runs
# at one speed.
speeds()
{
	local times
	times=$("$burstscope" sql -q --format csv "$tmp/first.db" 'SELECT count(reference_ns) * 20 > count(*), min(reference_ns) > 0 FROM execution WHERE complete' | tail -1)
	[[ $times == 1,1 ]] || wrong "speeds: of executions few tell it, or they tell 0: $times"
	"$burstscope" diff --format csv "$tmp/first.db" "$tmp/again1.db" >"$tmp/changes.csv"
	grep -q ',warm,cpu,' "$tmp/changes.csv" || wrong "speeds: cpu time was not compared: $(<"$tmp/changes.csv")"
}

short()
{
	tries 'one build against itself' same_build
	tries 'operations that take four times as long' slower_build
	tries 'deadlines that cannot be met' late_build
	settings
	speeds
}

# ---- many comparisons, for figures ----

# bar WHAT SEEN OF LEAST MOST: SEEN of OF, in percent, must be between LEAST and MOST.
bar()
{
	local verdict=met
	(($2 * 100 >= $3 * $4 && $2 * 100 <= $3 * $5)) || { verdict='NOT met'; wrong "$1: $2 of $3"; }
	echo "| $1 | $2 of $3 | $4 to $5 % | $verdict |"
}

# same_pair A B: compare two recordings of one build.
same_pair()
{
	pairs=$((pairs + 1))
	compare 1 "$1" -- "$2" && failed=$((failed + 1))
	! changed || differ=$((differ + 1))
}

# round: record five times a side, by turns; one side takes a tenth longer. Then one pair of each other kind.
round()
{
	local i a=() b=()

	for i in 1 2 3 4 5; do
		record "a$i" camera 0 4s --lanes 1
		record "b$i" camera 10 4s --lanes 1
		a+=("$tmp/a$i.db") b+=("$tmp/b$i.db")
	done
	record half camera 50 4s --lanes 1
	record late tight 0 4s --lanes 1
	same_pair "${a[0]}" "${a[1]}"
	same_pair "${a[2]}" "${a[3]}"
	same_pair "${b[0]}" "${b[1]}"
	same_pair "${b[2]}" "${b[3]}"
	rounds=$((rounds + 1))
	compare 1 "${a[@]}" -- "${b[@]}" && named run && tenth=$((tenth + 1))
	compare 1 "${a[4]}" -- "$tmp/half.db" && half=$((half + 1))
	compare 1 "${a[4]}" -- "$tmp/late.db" && late=$((late + 1))
	rm -f "$tmp"/*.db
}

long()
{
	local until=$((SECONDS + $1))

	pairs=0 failed=0 differ=0 rounds=0 tenth=0 half=0 late=0
	while ((SECONDS < until)); do round; done
	echo "load average at the end: $(cut -d ' ' -f 1-3 /proc/loadavg)"
	echo '| bar | seen | wanted | |'
	echo '|---|---|---|---|'
	bar 'one build, one a side: FAIL' "$failed" "$pairs" 0 5
	bar 'one build, one a side: changed' "$differ" "$pairs" 0 10
	bar 'one a side, misses 0 to all: FAIL' "$late" "$rounds" 90 100
	bar 'one a side, operations +50 %: FAIL' "$half" "$rounds" 90 100
	bar 'five a side, operations +10 %: FAIL and run named' "$tenth" "$rounds" 90 100
}

start_sessiond
if ((${NNB_SOAK_SECONDS:-0} >= 60)); then long "$NNB_SOAK_SECONDS"; else short; fi
((failures == 0))
