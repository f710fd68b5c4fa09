#!/usr/bin/env bash
# watch_folds_kills.sh BURSTSCOPE SERVICE LOAD JSON_SCHEMA SCHEMA -- burstscope watch with conditions that a fold
# decides, while the watcher, its reading process, the session daemon and the service are killed, and the disk is full:
# cases stay, half cases are finished, and no ring is left in memory. A second watcher, whose reading process is
# stopped, goes on beside the first.
set -euo pipefail
burstscope=$1 service=$2 load=$3 json_schema=$4 schema=$5
. "$(dirname "$0")/../watching.sh"
unset XDG_RUNTIME_DIR
export LTTNG_SESSIOND_PATH=/bin/false # a watcher that loses the session daemon waits for the next one here
stopped=
trap 'stop_jobs; kill -9 $stopped 2>/dev/null || true; stop_all; stop_service || true; stop_sessiond; umount cases 2>/dev/null || true; rm -rf "$tmp"' EXIT
watches_fold=(--on 'miss ratio <= 1 %' --window 1s --before 1s --after 100ms --cooldown 0s --ring 1M --buffer 256K --min-free 1M)

slow_importer

# rings N WHEN: there must be N directories of rings in memory.
rings() { (($(ls -d /dev/shm/burstscope-probe-* 2>/dev/null | wc -l) == $1)) || wrong "$2: rings: $(ls -d /dev/shm/burstscope-probe-*)"; }
lines() { wc -l <out; }
reader_of() { pgrep -P "$1" burstscope-impo; }

# Remove all cases but the last three: a slow machine makes more of them than there is room for.
make_room()
{
	local all=(cases/2*[0-9])

	((${#all[@]} <= 3)) || rm -r "${all[@]:0:${#all[@]}-3}"
}

# fires_again WHEN: the condition that always holds must fire again.
fires_again()
{
	local before
	make_room
	before=$(lines)
	awaits "((\$(lines) > $before))" "a case $1"
}

killed()
{
	kill -9 "$watcher"
	await_end "$watcher" 'watch is killed' 2>/dev/null || true
	watcher=
}

start_sessiond
start_service "$service" --lanes 1
forget
mkdir cases
mount -t tmpfs -o size=40m,mode=755 cases cases

# ---- a reading process that is stopped: conditions on events are caught all the same ----

"$burstscope" watch -o stopped --on death --on 'miss ratio of app=impossible <= 1 %' --window 1s --after 100ms --cooldown 1h --ring 1M >stopped.out 2>stopped.err &
stopped=$!
awaits 'grep -q "^cases go into" stopped.err' 'a watcher begins'
kill -STOP "$(reader_of "$stopped")"
"$load" --quiet --socket "$tmp/socket" --duration 20s audio >load.out 2>&1 &
apps=$!
bursting
kill -9 "$victim"
awaits 'grep -q "(pid $victim) died: its connection ended without a goodbye" stopped.out' 'a death while the process that reads is stopped'
no_more

# ---- the watcher is killed: armed, and while it makes a case ----

miss
watches "$burstscope" "${watches_fold[@]}"
rings 2 'two watchers'
killed
rings 2 'one was killed'
begin_slowly
watches "$tmp/slow/burstscope" "${watches_fold[@]}"
rings 2 'the next one'
awaits '[[ -e $tmp/importing ]]' 'an import begins'
killed
[[ $(ls -d cases/*.half) ]] || wrong 'killed while it made a case, it leaves none'
watches "$burstscope" "${watches_fold[@]}"
said=$(<err)
[[ $said =~ [1-9]' case'.*' finished' ]] || wrong "not said that half cases are finished: $said"
(($(lines) >= 1)) || wrong "a case that was half made is not finished: $(ls cases)"
rings 2 'another one'

# ---- the reading process is killed ----

kill -9 "$(reader_of "$watcher")"
awaits 'grep -q "has gone: another one begins, and reads what the ring still holds" err' 'the end of the process that reads is noticed'
fires_again 'after the process that reads was killed'

# ---- the service is killed ----

kill -9 "$daemon"
await_end "$daemon" 'nnburstd is killed' 2>/dev/null || true
daemon=
no_more
start_service "$service" --lanes 1
miss
fires_again 'after the service was killed'

# ---- the disk is full ----

caught=$(ls -d cases/*/report.html | cut -d / -f 2 | grep -v half)
# cases are written meanwhile
awaits 'fallocate -l "$(($(df --output=avail -B1 cases | tail -n 1) - 1200000))" cases/full 2>/dev/null' 'the disk gets full'
awaits 'grep -q "^NOT CAUGHT: miss ratio <= 1 % fired: .*too little room for a case there" err' 'a disk that is full'
for each in $caught; do [[ -s cases/$each/report.html ]] || wrong "a full disk changes $each: $(ls "cases/$each")"; done
rm cases/full
fires_again 'when there is room again'
for each in $(ls cases); do # there was room for the trace of some, but not for the database
	grep -q '"state": "unexplained"' "cases/$each/case.json" 2>/dev/null || continue
	[[ -d cases/$each/trace/ust ]] && ! grep -q '"why": null' "cases/$each/case.json" || wrong "$each is unexplained: $(<"cases/$each/case.json")"
	rm -r "cases/$each"
done

# ---- the stopped process is replaced, and the ring's contents are judged ----

awaits 'grep -q "has not answered for 15 s: another one begins, and reads what the ring still holds" stopped.err' 'a stopped process is replaced'
awaits 'grep -q "^miss ratio of app=impossible <= 1 % fail" stopped.out' 'a rule after that'
kill "$stopped"
await_end "$stopped" 'the other watcher ends' || wrong "the other watcher ends with $?: $(<stopped.err)"
stopped=
rings 1 'one has ended'

# ---- the consumer daemon and the session daemon are killed, and the watcher with the latter ----

kill_consumerd
consumerd_missed || true
rings 0 'nothing is watched'
kill_sessiond
start_sessiond
awaits 'grep -q "watching again; what happened in the .* before was not caught" err' 'it watches again'
awaits "grep -lq '\"gap_ns\": [1-9]' cases/*/case.json" 'a case that says that there was a gap'
kill -STOP "$watcher" # so that it does not see the session daemon go, and removes no ring
kill_sessiond
killed
rings 1 'both were killed'
start_sessiond
no_more
stop_service # a service that lost its session daemon looks for the next one every five seconds
start_service "$service" --lanes 1
miss
watches "$burstscope" "${watches_fold[@]}" --verbose --after 60s
rings 1 'the next one after both were killed'
awaits 'grep -q "fired: its case begins, and is taken in 60" err' 'a case begins'
kill_sessiond
fires_again 'that had begun when the session daemon was killed'
stopped 0
rings 0 'all have ended'
whole

((failures == 0))
