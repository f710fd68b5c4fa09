#!/usr/bin/env bash
# hang.sh BURSTSCOPE SERVICE LOAD -- a service that is stopped while apps wait for its answers emits nothing more: no rule passes
# over that time. burstscope record knows the end of the recording, so executions take until then, and deadlines are missed;
# of LTTng alone that end is not known, and what depends on it cannot be told. A service that is idle at the end does not hang. top shows
# what is past its deadline and for how long the service has been silent, while it hangs. A service that is stopped and goes on is named, too.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
burstscope=$1 service=$2 load=$3
export LC_ALL=C.UTF-8 LTTNG_APP_SOCKET_TIMEOUT=2 # so long LTTng waits for a service that does not answer

# The lane is never idle, and something is always ready: runs take long. So are the deadlines: none is missed as long as the service runs.
scenario crowd '{"name": "crowd", "duration": "60s", "apps": [
	{"name": "cam", "streams": [{"name": "f", "model": "mobilenet-96", "priority": "high", "deadline": "1s", "threads": 2}]},
	{"name": "bg", "streams": [{"name": "n", "model": "mobilenet-640", "priority": "low", "threads": 3}]}]}'
cat >"$tmp/rules" <<'EOF'
p100 e2e <= 1500ms
at most 0 misses in any 3
starvation none over 1500ms
EOF

# serve NAME: a service, and the load of that scenario.
serve()
{
	start_service "$service" --lanes 1
	begin_load "$1"
	goes_on "$service"
}

serve_no_more()
{
	kill -CONT "$daemon"
	end_load
	stop_service || wrong 'nnburstd does not end well'
}

# judged NAME RESULT: each of the rules ends with a word of that pattern.
judged()
{
	local result

	quietly "$burstscope" import -q -o "$tmp/$1.db" "$tmp/$1"
	"$burstscope" check --slo "$tmp/rules" "$tmp/$1.db" >"$tmp/$1.checked" || true
	for result in 'p100' 'at most 0 misses' 'starvation'; do
		grep -qE "^$2 +$result" "$tmp/$1.checked" || wrong "$1: $result is not $2: $(<"$tmp/$1.checked")"
	done
	"$burstscope" summary "$tmp/$1.db" >"$tmp/$1.summary"
}

# is_said NAME WORDS: by the summary.
is_said() { grep -qE "$2" "$tmp/$1.summary" || wrong "$1: not said: $2 (but: $(head -5 "$tmp/$1.summary"))"; }

start_sessiond

# ---- burstscope record writes down when the recording ended ----

serve crowd
"$burstscope" record --no-import --for 8s -o "$tmp/known" >/dev/null 2>"$tmp/known.said" &
recorder=$!
awaits '[[ -e $tmp/known/burstscope.record ]]' 'it records'
goes_on "$service"
kill -STOP "$daemon"
await_end "$recorder" 'the recording ends' || wrong "record: $(<"$tmp/known.said")"
# Where LTTng has not given the service up before, it waits for it, and record says so.
if grep -qE '^LTTng took [0-9.]+ s to stop the recording' "$tmp/known.said"; then
	grep -q "^waiting: nnburstd (pid $daemon) does not answer LTTng, because it is stopped" "$tmp/known.said" ||
		wrong "record does not name the program that it waits for: $(<"$tmp/known.said")"
fi
serve_no_more
judged known FAIL
is_said known 'NO EVENT of any program in the last [0-9.]+ s, with executions under way'
is_said known ' 1 +silent +no event of the service \(pid [0-9]+\) was recorded in the last [0-9.]+ s, while clients waited for [0-9]+ answers, longest for [0-9.]+ s: .*; it hung, or had died: '
is_said known ' starvation +bg.s mobilenet-640 waited .*; no event of the service was recorded for [0-9]+ % of that (time|sum)'
! grep -q ' held the lane ' "$tmp/known.summary" || wrong "known: an app is blamed: $(<"$tmp/known.summary")"
[[ $("$burstscope" sql "$tmp/known.db" --format csv \
	"SELECT count(*) > 0 FROM execution WHERE quality = 'open' AND miss = 'late' AND lateness_ns IS NULL" | tail -1) == 1 ]] ||
	wrong 'no execution is late by an unknown time'

# ---- it is stopped in the midst, and goes on ----

# What comes at fixed times is asked for while the service is stopped, and has its threads there.
scenario midst '{"name": "midst", "duration": "60s", "apps": [
	{"name": "kws", "streams": [{"name": "k", "model": "keyword", "priority": "high", "period": "20ms"},
		{"name": "l", "model": "keyword", "priority": "high", "period": "30ms"},
		{"name": "m", "model": "keyword", "priority": "high", "period": "50ms", "path": "sync"}]},
	{"name": "bg", "streams": [{"name": "n", "model": "mobilenet-640", "priority": "low", "threads": 2}]}]}'
serve midst
"$burstscope" record -q --for 8s --detail full -o "$tmp/midst" >/dev/null 2>"$tmp/midst.said" &
recorder=$!
awaits '[[ -e $tmp/midst/burstscope.record ]]' 'it records'
goes_on "$service"
for _ in 1 2; do
	kill -STOP "$daemon"
	sleep 1.3
	kill -CONT "$daemon"
	goes_on "$service"
done
await_end "$recorder" 'the recording ends' || wrong "record: $(<"$tmp/midst.said")"
serve_no_more
quietly "$burstscope" import -q -o "$tmp/midst.db" "$tmp/midst"
"$burstscope" summary "$tmp/midst.db" >"$tmp/midst.summary"
is_said midst ' 1 +silent +no event of the service \(pid [0-9]+\) was recorded for 1\.[0-9]+ s, while clients waited for [0-9]+ answers?, .*, and then it went on; it was stopped, or hung, or had no cpu'
[[ $("$burstscope" sql "$tmp/midst.db" --format csv \
	"SELECT count(*) FROM silence WHERE NOT went_on OR ended - began > 2000000000" | tail -1) == 0 ]] ||
	wrong 'a service that goes on is silent until the end, or for longer than it was stopped'

# ---- burstscope top, while it hangs ----

serve crowd
"$burstscope" top --format json --detail full --interval 500ms >"$tmp/top" 2>"$tmp/top.said" &
top=$!
awaits 'grep -qE "\"awaited\":[1-9]" "$tmp/top"' 'top shows what is under way'
kill -STOP "$daemon"
awaits 'grep -qE "\"overdue\":[1-9][0-9]*,\"awaited_ns\":[0-9]{10,},\"silent_ns\":[0-9]{10,}," "$tmp/top"' \
	'top shows that deadlines passed, and that the service is silent'
kill -CONT "$daemon"
awaits 'tail -n 1 "$tmp/top" | grep -qE "\"overdue\":0,"' 'top shows that the service goes on'
kill "$top"
await_end "$top" 'top ends' || wrong "top: $(<"$tmp/top.said")"
serve_no_more

# ---- LTTng alone: that it was over at the latest when the last packets were written ----

for form in full compact; do
	if [[ $form == full ]]; then session "$form" DEBUG_FUNCTION; else session "$form" NOTICE exec_client exec_service; fi
	serve crowd
	goes_on "$service"
	kill -STOP "$daemon"
	sleep 3
	# LTTng could not tell the service to stop, which emits on once it goes on: all is to be written by then.
	quietly lttng --no-sessiond stop "$form"
	quietly lttng --no-sessiond destroy "$form"
	serve_no_more
	judged "$form" '(INCONCLUSIVE|FAIL)'
	grep -q 'NOT RECORDED' "$tmp/$form.summary" || is_said "$form" 'it may have gone on for [0-9.]+ s without an event'
done

# ---- nothing is under way: the time without events says nothing ----

session idle DEBUG_FUNCTION
start_service "$service" --lanes 1
quietly "$load" --quiet --socket "$tmp/socket" --duration 2s "$tmp/crowd.json"
sleep 3
end_session idle
stop_service || wrong 'nnburstd does not end well'
judged idle PASS
! grep -q ' silent .* in the last ' "$tmp/idle.summary" || wrong "an idle service is silent: $(<"$tmp/idle.summary")"

exit $((failures > 0))
