#!/usr/bin/env bash
# own_runtime.sh PROGRAM PROVIDER -- the example runtime runs with and without a provider, and can be recorded.
set -euo pipefail
. "$(dirname "$0")/../lttng.sh"
program=$1 provider=$2

said=$(NNBURST_TRACEPOINTS='' "$program" 2>&1)
[[ $said == 'no events: no provider is given' ]] || { echo "without a provider: $said"; exit 1; }

start_sessiond
session full DEBUG_FUNCTION
"$program" "$provider"
end_session full
shown full | sed -E 's/^nnburst:([a-z_]+): .*/\1/' | sort | uniq -c | awk '{ print $2, $1 }' >"$tmp/is"
diff - "$tmp/is" <<-'END' || { echo 'that is not what the example should say'; exit 1; }
	client_connect 1
	exec_end 3
	exec_return 3
	exec_submit 3
	fmq_read 6
	fmq_write 6
	model_prepare 1
	request_decode 3
	sched_dispatch 3
	sched_enqueue 3
	service_state 1
	slot_lookup 6
	stream_open 1
END
