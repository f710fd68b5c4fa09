#!/usr/bin/env bash
# hang_starved.sh BURSTSCOPE SERVICE LOAD -- burstscope watch at detail compact finds the waits of a service that was stopped for 3 s,
# each time: their summaries come when the service goes on, later than the fold waits for them.
set -euo pipefail
burstscope=$1 service=$2 load=$3
. "$(dirname "$0")/../recording.sh"
cd "$tmp"
export LC_ALL=C.UTF-8 LTTNG_APP_SOCKET_TIMEOUT=1 # so long LTTng waits for a service that does not answer
load_pid='' watcher=''
trap 'kill -CONT $daemon 2>/dev/null || true; kill -9 $load_pid $watcher 2>/dev/null || true; stop_jobs; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT

# One lane that is always wanted, by work that takes long: whenever the service is stopped, some of it waits.
stream='{"name": "%s", "model": "mobilenet-640"}'
streams=$(printf "$stream, " a)$(printf "$stream" b)
scenario crowd '{"name": "crowd", "duration": "600s", "apps": [
	{"name": "cam", "streams": ['"$streams"']}, {"name": "gal", "streams": ['"$streams"']}]}'
start_sessiond
start_service "$service" --lanes 1
"$load" --quiet --socket "$tmp/socket" crowd.json >/dev/null 2>&1 &
load_pid=$!
for round in 1 2; do
	"$burstscope" watch --on 'starvation>2s' --on 'inversion>2s' --after 200ms --stop-after 1 -o cases >cases.out 2>cases.err &
	watcher=$!
	awaits 'grep -q "^cases go into" cases.err' 'it watches'
	grep -q 'cases: 5.000 s before and .* detail compact' cases.err || wrong "it watches for another time, or at another detail: $(<cases.err)"
	goes_on "$service"
	sleep 1.5
	kill -STOP "$daemon"
	sleep 3
	kill -CONT "$daemon"
	awaits '[[ -s cases.out ]]' "round $round: a case of the service that was stopped: $(<cases.err)"
	grep -qE "^(cam|gal)'s mobilenet-640 waited for a lane for up to [2-9]\.[0-9]+ s \([0-9]+ waits? longer than 2\.000 s\)" cases.out ||
		wrong "the case says: $(<cases.out)"
	! grep -q ' had the lane 0 % of the time' cases.out || wrong "a culprit that had no lane: $(<cases.out)"
	await_end "$watcher" 'the watcher ends' || wrong "watch: $(<cases.err)"
	watcher=''
	grep -qE '^inversion>2s: not judged for [1-9][0-9]* executions? that took longer than a second' cases.err ||
		wrong "the waits that were not judged: $(<cases.err)"
	rm -rf cases # the cause is a new one in the next round
done
kill "$load_pid"
await_end "$load_pid" 'the load ends' 2>/dev/null || true
load_pid=''
stop_service || wrong 'nnburstd does not end well'

echo "hang_starved.sh: $failures wrong"
((failures == 0))
