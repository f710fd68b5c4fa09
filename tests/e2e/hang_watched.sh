#!/usr/bin/env bash
# hang_watched.sh BURSTSCOPE SERVICE LOAD -- burstscope watch makes a case of a service that hangs while it does, and none of a
# service whose client is stopped; no rule passes over that time.
set -euo pipefail
burstscope=$1 service=$2 load=$3
. "$(dirname "$0")/../watching.sh"
export LC_ALL=C.UTF-8 LTTNG_APP_SOCKET_TIMEOUT=1 # so long LTTng waits for a service that does not answer

scenario crowd '{"name": "crowd", "duration": "600s", "apps": [
	{"name": "cam", "streams": [{"name": "f", "model": "mobilenet-96", "priority": "high", "deadline": "1s", "period": "5ms"}]}]}'
start_sessiond
start_service "$service" --lanes 1
watches "$burstscope" --on 'silence>1s' --on 'p99 e2e <= 10s' --window 1s --after 200ms --ring 64M
grep -q 'detail full' err || wrong "it watches for a silence at another detail: $(<err)"
begin_load crowd
goes_on "$service"
kill -STOP "$load_pid" $(pgrep -P "$load_pid") # a stopped client: its service is idle
sleep 2
kill -CONT "$load_pid" $(pgrep -P "$load_pid")
goes_on "$service"
sleep 2
[[ ! -s out ]] || wrong "a case before it hangs: $(<out)"
kill -STOP "$daemon"
awaits '[[ -s out ]]' 'a case of the service that hangs'
grep -qE "^a service emitted no event for 1\.[0-9]+ s or longer, while clients waited for it: [1-9][0-9]* answers?, most of them cam's mobilenet-96; it hung, had died, or its events did not arrive" out ||
	wrong "the case says: $(<out)"
sleep 2
kill -CONT "$daemon"
goes_on "$service"
stopped 0
(($(wc -l <out) == 1)) || wrong "one silence makes other cases: $(<out)"
grep -qE '^p99 e2e <= 10s: .*; in [1-9][0-9 ]* of them a service was silent while clients waited for it' err || wrong "the windows of that time: $(<err)"
[[ $("$burstscope" cases --format csv cases) == *silence,silent,* ]] || wrong "kept: $("$burstscope" cases --format csv cases)"
end_load
stop_service || wrong 'nnburstd does not end well'

echo "hang_watched.sh: $failures wrong"
((failures == 0))
