#!/usr/bin/env bash
# holes.sh BURSTSCOPE SERVICE LOAD FOLLOWED -- burstscope finds what LTTng did not record, though LTTng counts none of it as
# lost: overwritten rings of snapshots and of tracefiles, a session that was stopped and started, a stream's file that
# is missing or cut. No answer covers such a time. Recordings without holes have none.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
command -v sqlite3 >/dev/null || { echo 'skipped: no sqlite3'; exit 77; }
burstscope=$1 service=$2 load=$3 followed=$4
sql=$(dirname "$0")/../analyzer
followers=()

# recorded NAME CHANNEL_OPTIONS [CREATE_OPTION...]
recorded()
{
	local name=$1
	local -a options
	read -ra options <<<"$2"
	shift 2

	quietly lttng --no-sessiond create "$name" --output="$tmp/$name" "$@"
	[[ "${options[*]}" != *--switch-timer* ]] || # the metadata must be readable while it records
		quietly lttng --no-sessiond enable-channel --session "$name" --userspace --switch-timer=100000 metadata
	quietly lttng --no-sessiond enable-channel --session "$name" --userspace "${options[@]}" all
	quietly lttng --no-sessiond enable-event --session "$name" --userspace --channel all 'nnburst:*' --loglevel=DEBUG_FUNCTION
	quietly lttng --no-sessiond start "$name"
}

# holes NAME: make the database of the recording, and print its number of holes.
holes()
{
	"$burstscope" import -o "$tmp/$1.db" "$tmp/$1" >"$tmp/said" 2>&1 || wrong "$1: $(<"$tmp/said")"
	sqlite3 -readonly "$tmp/$1.db" 'SELECT count(*) FROM loss'
}

# has NAME N: the recording must have N holes.
has()
{
	local n

	n=$(holes "$1")
	grep -q 'no event was lost' "$tmp/said" || wrong "of $1 import says $(<"$tmp/said")"
	((n == $2)) || wrong "$1 has $n holes, not $2: $(sqlite3 -readonly "$tmp/$1.db" 'SELECT cpu, began, ended - began FROM loss')"
}

# has_holes NAME: the recording must have holes, and its database no wait, run or choice that the whole recording
# lacks, nor a verdict of fairness.
has_holes()
{
	local n invented

	n=$(holes "$1")
	((n)) || wrong "$1 has no holes"
	grep -q 'not recorded' "$tmp/said" || wrong "of $1 import says $(<"$tmp/said")"
	invented=$(sqlite3 -readonly "$tmp/$1.db" "ATTACH 'file:$tmp/whole.db?mode=ro' AS whole;" ".read '$sql/invented.sql'" 2>&1) || true
	[[ ! $invented ]] || wrong "$1 invents $(wc -l <<<"$invented"): $(head -3 <<<"$invented")"
	! "$burstscope" fairness --verdict "$tmp/$1.db" >"$tmp/said" 2>&1 || wrong "$1 is said to be fair: $(head -3 "$tmp/said")"
	"$burstscope" summary "$tmp/$1.db" >"$tmp/said" 2>&1 || true # the status is that of its verdicts
	grep -q '^executions' "$tmp/said" || wrong "summary of $1 says $(<"$tmp/said")"
	! grep 'within \(its\|their\) share' "$tmp/said" || wrong "$1 has a hole, and the summary claims that an app was within its share"
}

# follow_begin NAME: follow the recording from now on, until follow_end.
follow_begin()
{
	[[ -p $tmp/until ]] || mkfifo "$tmp/until"
	"$followed" "$tmp/$1" 100 <"$tmp/until" >"$tmp/$1.live" 9>&- &
	followers+=("$!")
	[[ -e /proc/$$/fd/9 ]] || exec 9>"$tmp/until"
}

# follow_end: end what follow_begin began. The recordings have ended.
follow_end()
{
	local pid

	exec 9>&-
	for pid in "${followers[@]}"; do await_end "$pid" 'what follows a session ends' || wrong 'what was followed is not what is there'; done
}

# is_followed NAME: what followed the recording must have found the gaps of an import, unless a packet came too late.
is_followed()
{
	grep -qE ', gaps ([0-9]+) of \1$' "$tmp/said" || ! grep -q ', late 0 by' "$tmp/said" ||
		wrong "$1: gaps that an import does not have: $(<"$tmp/said")"
}

# packets FILE: print where each packet begins, and where the last one ends.
packets()
{
	local at=0 size
	size=$(stat -c %s "$1")

	while ((at < size)); do
		echo "$at"
		at=$((at + $(od -A n -t u8 -j $((at + 56)) -N 8 "$1") / 8))
	done
	echo "$at"
}

start_sessiond

# ---- recordings without holes ----

recorded whole '--subbuf-size=1M --num-subbuf=8'
recorded small '--subbuf-size=16k --num-subbuf=128'
recorded rotated '--subbuf-size=64k --num-subbuf=32'
recorded by_pid '--subbuf-size=64k --num-subbuf=32 --buffers-pid'
start_service "$service"
for _ in 1 2; do
	quietly lttng --no-sessiond rotate rotated
	quietly taskset -c 0 "$load" --quiet --socket "$tmp/socket" --duration 300ms transport
	quietly lttng --no-sessiond rotate rotated # after this the session is idle
done
quietly "$load" --quiet --socket "$tmp/socket" --duration 300ms transport
stop_service
for name in whole small rotated by_pid; do end_session "$name"; done
for name in whole small rotated by_pid; do has "$name" 0; done
rm -rf "$tmp"/{whole,small,rotated,by_pid}*

# A switch timer ends the packets, and a lull follows, after which the service emits its state again, because another
# session began. That is no hole: one cpu has had no events since before, and a stop would have written a packet of it.
recorded timed '--subbuf-size=64k --num-subbuf=32 --switch-timer=20000'
recorded stopped '--subbuf-size=64k --num-subbuf=32 --switch-timer=20000'
for name in timed stopped; do follow_begin "$name"; done
start_service "$service"
quietly taskset -a -c -p 0 "$daemon"
for cpu in $(seq $(($(nproc) - 1)) -1 0) 0; do
	quietly taskset -c "$cpu" "$load" --quiet --socket "$tmp/socket" --duration 100ms transport
done
# Of the lulls before, requests of much later prove that they are no holes (analyzer/fold/pending.h).
quietly taskset -c 0 "$load" --quiet --socket "$tmp/socket" --duration 500ms transport
quietly lttng --no-sessiond stop stopped
quietly lttng --no-sessiond start stopped
quietly taskset -c 0 "$load" --quiet --socket "$tmp/socket" --duration 100ms transport
stop_service
for name in timed stopped; do end_session "$name"; done
follow_end
for name in timed stopped; do
	"$followed" "$tmp/$name" 100 </dev/null >"$tmp/said" || wrong "$name, once it has ended: $(<"$tmp/said")"
	is_followed "$name"
	cp "$tmp/$name.live" "$tmp/said"
	is_followed "$name"
done
(($(nproc) == 1)) || has timed 0
n=$(holes stopped)
((n == 1)) || wrong "stopped has $n holes, not 1"
rm -rf "$tmp"/{timed,stopped}*

# ---- recordings with holes ----

recorded whole '--subbuf-size=1M --num-subbuf=8'
recorded stopped '--subbuf-size=64k --num-subbuf=32'
recorded files '--subbuf-size=4k --num-subbuf=256 --tracefile-size=16k --tracefile-count=3'
recorded ring '--subbuf-size=4k --num-subbuf=4 --overwrite' --snapshot
start_service "$service"
"$load" --quiet --socket "$tmp/socket" --duration 3s noisy-neighbour >"$tmp/report" 2>&1 &
load_pid=$!
trap 'stop_jobs; kill "$load_pid" 2>/dev/null || true; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT
sleep 1
quietly lttng --no-sessiond stop stopped
sleep 0.5
quietly lttng --no-sessiond start stopped
sleep 0.5
quietly lttng --no-sessiond snapshot record --session ring
await_end "$load_pid" 'the load ends' || wrong "the load ends with $?: $(<"$tmp/report")"
trap 'stop_jobs; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT
stop_service
for name in whole stopped files ring; do end_session "$name"; done
has whole 0
for name in stopped files ring; do has_holes "$name"; done
# While the session was stopped an app may have come and gone.
echo 'p50 e2e <= 60s' >"$tmp/any.slo"
checked() { status=0; "$burstscope" check --slo "$tmp/any.slo" "$tmp/$1.db" >"$tmp/said" 2>&1 || status=$?; }
checked whole
((status == 0)) || wrong "whole: check ends with $status: $(<"$tmp/said")"
checked stopped
((status == 3)) && grep -q 'an unknown number lost' "$tmp/said" || wrong "stopped: check ends with $status: $(<"$tmp/said")"

! "$burstscope" priority --verdict "$tmp/stopped.db" >"$tmp/said" 2>&1 || wrong "stopped: priority is said to be kept: $(head -3 "$tmp/said")"

# A stream's file and its index are removed: the numbers of the cpus show that one is missing.
cp -r "$tmp/whole" "$tmp/gone"
streams=("$tmp"/gone/ust/uid/*/*/all_*)
if ((${#streams[@]} > 1)); then
	trace=$(dirname "${streams[0]}")
	rm "$trace/all_0" "$trace/index/all_0.idx"
	has_holes gone
	[[ $(sqlite3 -readonly "$tmp/gone.db" 'SELECT sum(complete) FROM execution') == 0 ]] || wrong 'gone: something is complete'
fi

# Cut within a packet, and between two packets.
cp -r "$tmp/stopped" "$tmp/stopped_cut"
stream=$(ls -S "$tmp"/stopped_cut/ust/uid/*/*/all_* | head -1)
at=$(packets "$stream" | tail -2 | head -1)
truncate -s $((at + 500)) "$stream"
has_holes stopped_cut
truncate -s "$at" "$stream"
has_holes stopped_cut
rm "$(dirname "$stream")/index/$(basename "$stream").idx" # now only the other cpu's stream shows it
has_holes stopped_cut
# The consumer writes none of the first packets of any cpu before they are overwritten. Nothing shows since when they are missing.
recorded late '--subbuf-size=4k --num-subbuf=2 --overwrite'
start_service "$service"
mapfile -t writers < <(consumers)
kill -STOP "${writers[@]}"
for ((cpu = 0; cpu < $(nproc); cpu++)); do
	quietly taskset -c "$cpu" "$load" --quiet --socket "$tmp/socket" --duration 200ms transport
done
kill -CONT "${writers[@]}"
quietly "$load" --quiet --socket "$tmp/socket" --duration 200ms transport
stop_service
end_session late
holes late >/dev/null
grep -q 'not recorded' "$tmp/said" || wrong "of a recording without its first packets import says $(<"$tmp/said")"
heads=$(sqlite3 -readonly "$tmp/late.db" "SELECT count(*) FROM loss WHERE cause = 'head' AND cpu IS NULL")
((heads == 1)) || wrong "late: $heads losses of the heads of all cpus"

echo 'holes: rings, a stop, a stream that is gone, a file that is cut'
exit $((failures > 0))
