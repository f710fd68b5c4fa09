#!/usr/bin/env bash
# mutated.sh MUTATED_TRACES SERVICE LOAD -- small recordings, as LTTng writes them, with a few bytes or fields changed:
# their import keeps every promise of a database. Buffers are small, so that some lose events and all have several
# packets.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
mutated=$1 service=$2 load=$3

scenario small '{"executions": 12, "apps": [
	{"name": "a", "streams": [{"model": "mlp"}, {"name": "s", "model": "mlp", "path": "sync", "priority": "high"}]},
	{"name": "b", "streams": [{"model": "mlp", "path": "fenced", "deadline": "1ms"}, {"name": "y", "model": "mlp", "path": "async"}]}]}'

# small_session NAME LEVEL [EVENT...]
small_session()
{
	local name=$1 level=$2 event
	shift 2

	quietly lttng --no-sessiond create "$name" --output="$tmp/$name"
	quietly lttng --no-sessiond enable-channel --session "$name" --userspace --subbuf-size=8K --num-subbuf=8 small
	quietly lttng --no-sessiond enable-event --session "$name" --userspace --channel=small 'nnburst:*' --loglevel="$level"
	for event; do
		quietly lttng --no-sessiond enable-event --session "$name" --userspace --channel=small "nnburst:$event"
	done
	quietly lttng --no-sessiond start "$name"
}

start_sessiond
start_service "$service"
small_session full DEBUG_FUNCTION
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/small.json"
end_session full
small_session verbose DEBUG_LINE
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/small.json"
end_session verbose
small_session compact NOTICE exec_client exec_service
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/small.json"
end_session compact
stop_service

TMPDIR=$tmp NNB_MUTATED=${NNB_MUTATED:-60} "$mutated" "$tmp/full" "$tmp/verbose" "$tmp/compact"
