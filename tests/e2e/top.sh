#!/usr/bin/env bash
# top.sh BURSTSCOPE SERVICE LOAD JSON_SCHEMA SCHEMA -- burstscope top beside LTTng: its sums of a session are those of
# an import of that session's files; its output for programs conforms to the schema; and its behaviour without a
# session daemon.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
burstscope=$1 service=$2 load=$3 json_schema=$4 schema=$5
cd "$tmp"

# field NAME: print that field of the last object in the file printed, a number or a word.
field() { tail -n 1 printed | sed -nE "s/\"models\":.*//; s/.*\"$1\":\"?([^,}\"]*).*/\1/p"; }

# ---- without a session daemon ----
status=0
LTTNG_HOME=$tmp/nobody "$burstscope" top --format json some-session >out 2>err || status=$?
((status == 5)) || wrong "a session without a daemon: status $status"
(($(wc -l <err) == 1)) || wrong "a session without a daemon: not one line: $(<err)"

# ---- without the rights to record a service: an empty table explains that ----
start_sessiond
if ((EUID == 0)) && command -v setpriv >/dev/null; then
	start_service "$service" --app-identity uid
	mkdir -m 777 plain
	cp "$burstscope" "$(dirname "$burstscope")/burstscope-importer" plain
	chmod a+x . plain/*
	as_plain() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$tmp/plain" LTTNG_HOME="$tmp/plain" "$tmp/plain/burstscope" "$@"; }
	as_plain top --once >out 2>err || wrong "another user's top ends with $?: $(<err)"
	grep -q "^no service of this user has been heard; only root can record other users'" out || wrong "another user's top: $(<out)"
	(cd plain && as_plain watch --on miss --for 100ms -o cases >out 2>err) || wrong "another user's watch ends with $?: $(<plain/err)"
	grep -q "^no program of this user that emits events is running; only root can watch other users' programs" plain/err ||
		wrong "another user's watch: $(<plain/err)"
	stop_service
fi
"$burstscope" top --once >out 2>err || wrong "top without a service ends with $?: $(<err)"
grep -q '^no service has emitted an event: it is idle, or not running' out || wrong "top without a service: $(<out)"

# ---- a reader that closes the output ends top as it ends the other commands; top removes its session ----
status=0
"$burstscope" top 2>err | head -n 1 >out || status=$?
((status == 141)) && [[ $(<err) != *'cannot write'* ]] || wrong "top whose reader has ended: status $status, $(<err)"
[[ $(lttng --no-sessiond list) != *burstscope* ]] || wrong "top whose reader has ended leaves $(lttng --no-sessiond list)"

# ---- Ctrl-Z stops it without a screen, too ----
state_of() { sed 's/.*) //; s/ .*//' "/proc/$1/stat"; }
"$burstscope" top --format json --interval 100ms >printed 2>err &
stopped=$!
awaits '[[ -s printed ]]' 'top prints figures'
kill -TSTP "$stopped"
awaits '[[ $(state_of "$stopped") == T ]]' 'top is stopped by SIGTSTP'
kill -CONT "$stopped"
awaits '[[ $(state_of "$stopped") != T ]]' 'top goes on'
kill -TERM "$stopped"
await_end "$stopped" 'top ends' || wrong "top ends with $? after it was stopped"

# ---- beside a process that is stopped, one signal ends top: it waits 5 s for the sums ----
: >printed
"$burstscope" top --format json --interval 100ms >printed 2>err &
stopped=$!
awaits '[[ -s printed ]]' 'top prints figures'
reading=$(pgrep -P "$stopped" -f burstscope-importer)
kill -STOP "$reading"
awaits '[[ $(state_of "$reading") == T ]]' 'the process that reads is stopped'
kill -TERM "$stopped"
before=$SECONDS status=0
await_end "$stopped" 'top ends by one signal' || status=$?
((status == 5)) && [[ $(<err) == *'stopped before the process that reads the recording had answered' ]] ||
	wrong "beside a process that is stopped: top ends with $status: $(<err)"
((SECONDS - before < 30)) || wrong "beside a process that is stopped: top ends after $((SECONDS - before)) s"
[[ $(lttng --no-sessiond list) != *burstscope* ]] || wrong "top that a signal ended leaves $(lttng --no-sessiond list)"

# ---- another program's session, in full detail: exactly what an import has ----
live_session()
{
	quietly lttng --no-sessiond create "$1" --output="$tmp/$1"
	quietly lttng --no-sessiond enable-channel --userspace --session="$1" --buffers-uid --subbuf-size=4096 --num-subbuf=2 \
		--switch-timer=100000 metadata
	quietly lttng --no-sessiond enable-channel --userspace --session="$1" --buffers-uid --discard --subbuf-size=131072 \
		--num-subbuf=64 --switch-timer=10000 bursts
	quietly lttng --no-sessiond enable-event --userspace --session="$1" --channel=bursts 'nnburst:*' --loglevel="$2"
	for event in exec_client exec_service; do
		[[ $2 == DEBUG_FUNCTION ]] ||
			quietly lttng --no-sessiond enable-event --userspace --session="$1" --channel=bursts "nnburst:$event"
	done
	quietly lttng --no-sessiond start "$1"
}

# follow NAME LEVEL: follow a workload from its beginning to its end.
follow()
{
	local name=$1
	live_session "$name" "$2"
	"$burstscope" top --format json --interval 100ms --settle 2s "$name" >printed 2>"$name.err" &
	local follower=$!
	start_another "$service"
	quietly "$load" --socket "$tmp/socket" --duration 500ms --quiet noisy-neighbour
	stop_service
	quietly lttng --no-sessiond destroy "$name"
	await_end "$follower" "$name: top ends with its session" || wrong "$name: top ends with $?"
}

# follows NAME LEVEL: up to four times, because a machine that stood still for seconds may deliver executions too late,
# and top reports that.
follows()
{
	local try
	for try in 1 2 3 4; do
		follow "$1$try" "$2"
		[[ $(field why) == *' came later than '* ]] || break
	done
	! grep -q 'switch timer' "$1$try.err" printed || wrong "$1: every channel has a switch timer: $(<"$1$try.err") $(<printed)"
	"$burstscope" import -q -o "$1.db" "$1$try"
	agrees "$1"
}

# wanted NAME SQL FIELD
wanted()
{
	local is
	is=$("$burstscope" sql --format csv "$1.db" "$2" | tail -n 1)
	[[ $(field "$3") == "$is" ]] || wrong "$1: $3 is $(field "$3"), and $is in an import"
}

agrees()
{
	[[ $(field final) == true && $(field exact) == true ]] || wrong "$1: not exact: $(tail -n 1 printed | cut -c1-600)"
	wanted "$1" "SELECT count(*) FROM execution WHERE path <> 'prepare'" executions
	wanted "$1" "SELECT count(*) FROM execution WHERE miss IS NOT NULL" missed
	wanted "$1" "SELECT count(*) FROM execution WHERE path <> 'prepare' AND quality <> 'complete'" incomplete
	wanted "$1" "SELECT CAST(total(slot_misses) AS INTEGER) FROM execution" slot_misses
	wanted "$1" "SELECT sum(run_ns) FROM execution WHERE path <> 'prepare'" run_ns
	wanted "$1" "SELECT sum(queue_ns) FROM execution WHERE path <> 'prepare'" queue_ns
	wanted "$1" "SELECT count(*) FROM loss" losses
	wanted "$1" "SELECT sum(lost_events) FROM trace" lost_events
	(($(field executions) > 50)) || wrong "$1: only $(field executions) executions"
	(($(wc -l <printed) > 3)) || wrong "$1: only $(wc -l <printed) objects"
	for line in 1 2 '$'; do
		sed -n "${line}p" printed >one.json
		"$json_schema" "$schema" one.json || wrong "$1: object $line is not as the schema says: $(<one.json)"
	done
}

follows full DEBUG_FUNCTION
follows compact NOTICE

# ---- a session without a switch timer: what LTTng holds back in memory counts as unknown ----
quietly lttng --no-sessiond create untimed --output="$tmp/untimed"
quietly lttng --no-sessiond enable-channel --userspace --session=untimed --buffers-uid --subbuf-size=1M --num-subbuf=4 bursts
quietly lttng --no-sessiond enable-event --userspace --session=untimed --channel=bursts 'nnburst:*'
quietly lttng --no-sessiond start untimed
start_another "$service"
quietly "$load" --socket "$tmp/socket" --duration 100ms --quiet noisy-neighbour
"$burstscope" top --format json --once untimed >printed 2>err || wrong "untimed: top ends with $?: $(<err)"
[[ $(field final) == true && $(field exact) == false && $(field until_ns) == null && $(field lag_ns) == null ]] ||
	wrong "a session without a switch timer: $(<printed)"
grep -q '"why":"without a switch timer' printed || wrong "a session without a switch timer: why: $(<printed)"
[[ $(grep -c 'switch timer' err) == 1 && $(wc -l <err) == 1 ]] || wrong "a session without a switch timer: not one line: $(<err)"
"$json_schema" "$schema" <(tail -n 1 printed) || wrong 'a session without a switch timer: not as the schema says'
quietly lttng --no-sessiond stop untimed # the stop writes what was held back
"$burstscope" top --format json --once untimed >printed 2>err || wrong "stopped: top ends with $?: $(<err)"
[[ $(field exact) == true && ! -s err ]] || wrong "a session that was stopped holds nothing back: $(<printed) $(<err)"
"$burstscope" import -q -o untimed.db untimed
wanted untimed "SELECT count(*) FROM execution WHERE path <> 'prepare'" executions
stop_service

exit $((failures > 0))
