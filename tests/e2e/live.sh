#!/usr/bin/env bash
# live.sh FOLLOWED SERVICE LOAD -- follow a session that records into a limited number of tracefiles of limited size,
# with a switch timer: each record that an import of the same files finds comes, most of them during the recording, in
# the same order.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
followed=$1 service=$2 load=$3

start_sessiond
quietly lttng --no-sessiond create live --output="$tmp/live"
# without a timer of its own the metadata stays in memory until the session stops
quietly lttng --no-sessiond enable-channel --userspace --session=live --buffers-uid --subbuf-size=4096 --num-subbuf=2 \
	--switch-timer=100000 metadata
quietly lttng --no-sessiond enable-channel --userspace --session=live --buffers-uid --discard --subbuf-size=32768 --num-subbuf=64 \
	--switch-timer=10000 --tracefile-size=65536 --tracefile-count=256 bursts
quietly lttng --no-sessiond enable-event --userspace --session=live --channel=bursts 'nnburst:*' --loglevel=DEBUG_FUNCTION
quietly lttng --no-sessiond start live

mkfifo "$tmp/until"
"$followed" "$tmp/live" 100 <"$tmp/until" >"$tmp/seen" &
follower=$!
exec 9>"$tmp/until"
start_service "$service"
quietly "$load" --socket "$tmp/socket" --duration 1s --quiet noisy-neighbour
stop_service
sleep 0.3 # longer than a record takes to settle: it must come live
quietly lttng --no-sessiond stop live
exec 9>&-
await_end "$follower" 'what follows the session ends' || wrong "what was followed is not what is there"
cat "$tmp/seen"
live=$(sed -nE 's/^records [0-9]+ of [0-9]+, live ([0-9]+),.*/\1/p' "$tmp/seen")
all=$(sed -nE 's/^records [0-9]+ of ([0-9]+),.*/\1/p' "$tmp/seen")
((live > all / 2)) || wrong "of $all records only $live came while it recorded"
files=$(find "$tmp/live" -name 'bursts_*' -not -name '*.idx' -size +0 | wc -l)
((files > 2)) || wrong "only $files tracefiles: no stream went on in another one"
quietly lttng --no-sessiond destroy live
exit $((failures > 0))
