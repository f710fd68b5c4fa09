#!/usr/bin/env bash
# decoders.sh NNBURST_LOAD NNBURSTD DECODERS_AGREE -- the quick decoder reads the same as babeltrace2, event by event
# and loss by loss, from traces of each kind of LTTng's channels.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
load=$1 service=$2 agree=$3

# recorded NAME CHANNEL_OPTIONS LEVEL [CONTEXT...]
recorded()
{
	local name=$1 level=$3 context
	local -a options
	read -ra options <<<"$2"
	shift 3

	quietly lttng --no-sessiond create "$name" --output="$tmp/$name"
	quietly lttng --no-sessiond enable-channel --session "$name" --userspace "${options[@]}" all
	quietly lttng --no-sessiond enable-event --session "$name" --userspace --channel all 'nnburst:*' --loglevel="$level"
	for context; do
		quietly lttng --no-sessiond add-context --session "$name" --userspace --channel all --type "$context"
	done
	quietly lttng --no-sessiond start "$name"
}

start_sessiond
large='--subbuf-size=1M --num-subbuf=8'
recorded full "$large" DEBUG_FUNCTION
recorded verbose "$large" DEBUG_LINE
recorded contexts "$large" DEBUG_FUNCTION vpid vtid procname
recorded few "$large" NOTICE
recorded by_pid "$large --buffers-pid" DEBUG_FUNCTION
recorded discarding '--subbuf-size=4096 --num-subbuf=2 --discard' DEBUG_LINE
recorded overwriting '--subbuf-size=4096 --num-subbuf=2 --overwrite' DEBUG_LINE
recorded chunks '--subbuf-size=64k --num-subbuf=8 --tracefile-size=64k' DEBUG_FUNCTION
recorded rotated "$large" DEBUG_FUNCTION
start_service "$service" --driver null
for i in 1 2; do
	quietly "$load" --quiet --socket "$tmp/socket" --duration 300ms transport
	quietly lttng --no-sessiond rotate rotated
done
stop_service
for name in full verbose contexts few by_pid discarding overwriting chunks rotated; do end_session "$name"; done

for name in full verbose contexts few by_pid; do
	"$agree" -q "$tmp/$name" >"$tmp/said" || wrong "$name: $(cat "$tmp/said")"
	sed "s,$tmp/,," "$tmp/said"
done
for name in discarding overwriting chunks rotated; do
	"$agree" "$tmp/$name" >"$tmp/said" || wrong "$name: $(cat "$tmp/said")"
	sed "s,$tmp/,," "$tmp/said"
done
exit $((failures > 0))
