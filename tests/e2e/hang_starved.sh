#!/usr/bin/env bash
# hang_starved.sh BURSTSCOPE SERVICE LOAD -- burstscope watch at detail compact finds the waits of a service that was stopped for 3 s,
# each time: their summaries come when the service goes on, later than the fold waits for them.
set -euo pipefail
burstscope=$1 service=$2 load=$3
. "$(dirname "$0")/../watching.sh"
export LC_ALL=C.UTF-8 LTTNG_APP_SOCKET_TIMEOUT=1 # so long LTTng waits for a service that does not answer

# One lane that is always wanted, by work that takes long: whenever the service is stopped, some of it waits.
stream='{"name": "%s", "model": "mobilenet-640"}'
streams=$(printf "$stream, " a)$(printf "$stream" b)
scenario crowd '{"name": "crowd", "duration": "600s", "apps": [
	{"name": "cam", "streams": ['"$streams"']}, {"name": "gal", "streams": ['"$streams"']}]}'
start_sessiond
start_service "$service" --lanes 1
begin_load crowd
for round in 1 2; do
	watches "$burstscope" --on 'starvation>2s' --on 'inversion>2s' --after 200ms --stop-after 1
	grep -q 'cases: 5.000 s before and .* detail compact' err || wrong "it watches for another time, or at another detail: $(<err)"
	goes_on "$service"
	sleep 1.5
	kill -STOP "$daemon"
	sleep 3
	kill -CONT "$daemon"
	awaits '[[ -s out ]]' "round $round: a case of the service that was stopped: $(<err)"
	grep -qE "^(cam|gal)'s mobilenet-640 waited for a lane for up to [2-9]\.[0-9]+ s \([0-9]+ waits? longer than 2\.000 s\)" out ||
		wrong "the case says: $(<out)"
	! grep -q ' had the lane 0 % of the time' out || wrong "a culprit that had no lane: $(<out)"
	over 0
	grep -qE '^inversion>2s: not judged for [1-9][0-9]* executions? that took longer than a second' err ||
		wrong "the waits that were not judged: $(<err)"
	forget # the cause is a new one in the next round
done
end_load
stop_service || wrong 'nnburstd does not end well'

echo "hang_starved.sh: $failures wrong"
((failures == 0))
