#!/usr/bin/env bash
# late.sh APP SERVICE DRIVER LOAD -- a session that begins late gets the present state once, before any other event; it
# records why clients go; and sessions that come and go under load leave readable traces and working programs.
set -euo pipefail
. "$(dirname "$0")/../lttng.sh"
lttng_tmp=$tmp
. "$(dirname "$0")/../daemon.sh"
trap 'stop_jobs; stop_app; stop_load; stop_daemon || true; stop_sessiond; rm -rf "$tmp" "$lttng_tmp"' EXIT
app=$1 service=$2 driver=$3 load=$4
app_pid='' load_pid=''

wrong()
{
	echo "late.sh:${BASH_LINENO[0]}: $*"
	exit 1
}

# ---- an app with one of everything ----

declare -A id=()

# hear WORD: read the app's output up to that word, and note its numbers.
hear()
{
	local word='' number

	while [[ $word != "$1" ]]; do
		read -r word number <&"$from_app" || wrong "the app is gone before it says $1"
		id[$word]=$number
	done
}

ask()
{
	echo "$1" >&"$to_app"
	hear 'done'
}

start_app()
{
	mkfifo "$tmp/to" "$tmp/from"
	"$app" "$socket" "$NNB_GATE" <"$tmp/to" >"$tmp/from" &
	app_pid=$!
	exec {to_app}>"$tmp/to" {from_app}<"$tmp/from"
	rm "$tmp/to" "$tmp/from"
	hear ready
}

stop_app()
{
	local pid=$app_pid

	[[ $pid ]] || return 0
	app_pid=
	kill -KILL "$pid" 2>/dev/null || true
	exec {to_app}>&- {from_app}<&-
	await_end "$pid" 'an app is killed' 2>/dev/null || true
	printf '\0\0\0\0' | dd of="$NNB_GATE" conv=notrunc status=none # the held execution goes on
}

stop_load()
{
	[[ $load_pid ]] || return 0
	kill -KILL "$load_pid" 2>/dev/null || true
	await_end "$load_pid" 'the load is killed' 2>/dev/null || true
	load_pid=
}

# ---- the contents of a trace ----

# counted: count each kind of event on standard input; a * marks events of repeated state.
counted()
{
	sed -E 's/^nnburst:([a-z_]+): .*since = [1-9].*/\1*/; s/^nnburst:([a-z_]+): .*/\1/' | sort | uniq -c |
		awk '{ print $2, $1 }'
}

# events NAME: print the events of a trace.
events()
{
	shown "$1" | counted
}

# expect NAME: the trace must have exactly the events on standard input.
expect()
{
	diff - <(events "$1") >"$tmp/diff" && return
	echo "late.sh:${BASH_LINENO[0]}: $1: what it should hold (<), and does (>):"
	cat "$tmp/diff"
	shown "$1"
	exit 1
}

# has NAME EVENT FIELDS...: the trace must have such an event, with all these fields.
has()
{
	local name=$1 event=$2 found
	shift 2

	found=$(shown "$name" | grep "^nnburst:$event: " || true)
	for field; do found=$(grep -E "[{ ]$field( |,)" <<<"$found" || true); done
	[[ $found ]] || {
		shown "$name"
		wrong "$name has no $event with $*"
	}
}

# tell_all NAME TIMES: the trace must have the whole state that often, and rightly.
tell_all()
{
	local n=$1

	cat <<-END
		app_span* $n
		buffer_allocate* $n
		client_connect* $n
		exec_state* $n
		model_prepare* $n
		pool_map* $((3 * n))
		service_state* $n
		stream_open* $((5 * n))
	END
}

is_right()
{
	local since='since = [1-9][0-9]*' name=$1

	has "$name" service_state "pid = $daemon" 'policy = \( "fair" : container = 0 \)' 'contract = 3' "$since"
	has "$name" client_connect "conn = ${id[conn]}" "pid = $app_pid" "uid = $EUID" "app = $app_pid" 'name = "late"'
	for path in sync fenced async; do
		has "$name" stream_open "stream = ${id[$path]}" "conn = ${id[conn]}" "path = \( \"$path\" .*" 'model = 0'
	done
	has "$name" stream_open "stream = ${id[burst]}" "model = ${id[model]}" 'request_capacity = 1080' \
		'result_capacity = 1080' 'cache = \( "slots" : container = 1 \)'
	has "$name" model_prepare "model = ${id[model]}" "conn = ${id[conn]}" 'name = "adds"' 'ops = 2' \
		'const_bytes = 260' 'status = \( "none" .*' 'took_ns = [1-9][0-9]*' 'digest = [1-9][0-9]*'
	has "$name" pool_map 'owner = \( "model" .*' "owner_id = ${id[model]}" 'bytes = [1-9][0-9]*'
	has "$name" pool_map 'owner = \( "stream" .*' "owner_id = ${id[burst]}" 'bytes = 256' 'kind = \( "ashmem" .*'
	has "$name" app_span 'kind = \( "burst_configure" .*' "owner_id = ${id[burst]}" 'took_ns = [1-9][0-9]*' "$since"
	has "$name" buffer_allocate "conn = ${id[conn]}" 'bytes = 256' 'roles = 1'
	has "$name" exec_state "exec = $(printf %u $((id[async] << 32 | 1)))" "model = ${id[model]}" 'path = \( "async" .*' \
		'phase = \( "running" .*' 'lane = [0-9]'
}

# status_says REGEX: wait until the status matches. The status is asked by a connection of its own.
status_says()
{
	until "$service" --status --socket "$socket" | grep -E "$1" >"$tmp/said"; do sleep 0.02; done
}

export NNB_GATE=$tmp/gate
truncate -s 1M "$NNB_GATE"
start_sessiond
start_daemon "$service" --driver "$driver" --lanes 4 --limit bursts=1
start_app

# ---- a session that begins when all exists; then a call ----

session one DEBUG_FUNCTION
ask call
ask call
end_session one
tell_all 1 | expect one
is_right one

# ---- two sessions at once: both get the state again when the second begins ----

session first DEBUG_FUNCTION
ask call
session second NOTICE
ask call
end_session first
end_session second
tell_all 2 | expect first
tell_all 1 | expect second
is_right second

# ---- a session that ends before any event ----

session silent DEBUG_FUNCTION
end_session silent
[[ ! $(events silent) ]] || wrong "something was said: $(events silent)"
session after DEBUG_FUNCTION
ask burst # the event comes before that of the request
ask sync
ask refuse
end_session after
is_right after
shown after >"$tmp/shown"
first=$(sed -n '/since = [1-9]/ { =; q }' "$tmp/shown")
last=$(sed -n '/since = [1-9]/ =' "$tmp/shown" | tail -n 1)
taken=$(sed -n '/fmq_read:.*"request"/ { =; q }' "$tmp/shown")
((last < taken)) || wrong "the state is at $first to $last, the first request at $taken"
sed -n "$first,${last}p" "$tmp/shown" | counted >"$tmp/state"
tell_all 1 | diff - "$tmp/state" || wrong "the state, from $first to $last: what it should be (<), and is (>)"
has after pool_map 'owner = \( "exec" .*' "owner_id = ${id[sync_exec]}" 'slot = 1' 'bytes = 256' 'since = 0'
has after pool_unmap 'owner = \( "exec" .*' "owner_id = ${id[sync_exec]}" 'slot = 1' 'cause = \( "owner_end" .*'
has after buffer_reject 'buffer = [1-9][0-9]*' 'exec = 0' 'cause = \( "dimensions" .*'
has after buffer_reject 'buffer = [1-9][0-9]*' "exec = ${id[uninitialised]}" 'cause = \( "uninitialised" .*'
has after buffer_reject 'buffer = [1-9][0-9]*' "exec = ${id[role]}" 'cause = \( "role" .*'
has after buffer_reject 'buffer = 0' "exec = ${id[unknown]}" 'cause = \( "unknown" .*'
has after resource_exhausted 'owner = \( "app" .*' "owner_id = $app_pid" 'kind = \( "transient" .*' \
	'resource = \( "streams" .*' 'asked = 1' 'limit = 1'
has after model_prepare 'model = 0' 'status = \( "invalid_argument" .*' 'since = 0'
has after buffer_copy 'dir = \( "from" .*' 'status = \( "invalid_argument" .*'

# ---- the ends of objects, and their causes ----

session ends NOTICE
ask junk
ask 'let'
ask leave
status_says '^connections +1 '
end_session ends
# The name is empty. babeltrace2 2.0 at times prints the text of an earlier event instead, so the name is not compared.
junk=$(shown ends | sed -nE 's/^nnburst:client_disconnect: \{ conn = ([0-9]+), reason = \( "protocol".*/\1/p')
has ends client_connect "conn = $junk" "pid = $app_pid" 'since = 0'
has ends client_disconnect 'reason = \( "protocol" .*'
has ends client_disconnect "conn = ${id[conn]}" 'reason = \( "client" .*'
for stream in sync fenced async burst; do has ends stream_close "stream = ${id[$stream]}" 'reason = \( "client" .*'; done
has ends pool_unmap 'owner = \( "stream" .*' "owner_id = ${id[burst]}" 'cause = \( "owner_end" .*'
has ends pool_unmap 'owner = \( "model" .*' "owner_id = ${id[model]}" 'cause = \( "owner_end" .*'
has ends model_release "model = ${id[model]}"
has ends buffer_free 'cause = \( "freed" .*'
has ends performance_hold 'on = 0'
stop_app

session deaths NOTICE
start_app
stop_app
status_says '^connections +1 '
killed=${id[conn]}
start_app
ask 'let'
ask part
kill -STOP "$daemon" # so that it finds the goodbye and the end of the process at once
ask bye
exec {to_app}>&-
await_end "$app_pid" 'an app ends' || wrong "an app that says goodbye ends with $?"
kill -CONT "$daemon"
stop_app
status_says '^connections +1 '
gone=${id[conn]}
start_app
ask 'let'
stop_daemon
end_session deaths
has deaths performance_hold 'on = 1'
has deaths client_disconnect "conn = $killed" 'reason = \( "peer_death" .*'
has deaths client_disconnect "conn = $gone" 'reason = \( "client" .*'
has deaths client_disconnect "conn = ${id[conn]}" 'reason = \( "shutdown" .*'
has deaths stream_close "stream = ${id[burst]}" 'reason = \( "shutdown" .*'
has deaths buffer_free 'cause = \( "owner_end" .*'
stop_app

# ---- sessions that come and go under load ----

start_daemon "$service"
"$load" --socket "$socket" --duration 600s --quiet transport >"$tmp/report" 2>&1 &
load_pid=$!
until "$service" --status --socket "$socket" | grep -E '^bursts +[1-9]' >"$tmp/said"; do
	kill -0 "$load_pid" 2>/dev/null || wrong "there is no load: $(<"$tmp/report")"
done
for i in {1..20}; do
	((i % 2)) && level=NOTICE || level=DEBUG_FUNCTION
	session "load$i" "$level"
	((i % 5)) || session "beside$i" NOTICE
	"$service" --status --socket "$socket" >"$tmp/said" # by then the service has reported its state
	((i % 5)) || end_session "beside$i"
	end_session "load$i"
	babeltrace2 "$tmp/load$i" >"$tmp/shown" 2>"$tmp/said" || wrong "load$i cannot be read: $(<"$tmp/said")"
	[[ $level == NOTICE ]] || continue # of other levels, events may have been lost: enough that there are so many
	for event in service_state client_connect model_prepare stream_open pool_map; do
		grep -E "nnburst:$event: .* since = [1-9]" "$tmp/shown" >"$tmp/said" || wrong "load$i has no $event of before"
	done
	kill -0 "$daemon" 2>/dev/null || wrong 'the service is gone'
	kill -0 "$load_pid" 2>/dev/null || wrong "the load is gone: $(<"$tmp/report")"
done
kill -INT "$load_pid"
await_end "$load_pid" 'the load ends' || wrong "the load ends with $?: $(<"$tmp/report")"
load_pid=
status_says '^connections +1 '
stop_daemon
((${failures-0} == 0)) || exit 1
echo 'late sessions: told once, before the rest; 20 under load'
