#!/usr/bin/env bash
# exact.sh BURSTSCOPE EMIT_CASE TEST_CASES PROVIDER CASES -- a real tracer records the compact events of the cases: the
# answers must be those of the made traces, to the nanosecond. The first eight cases whose times can be emitted
# exactly; all of them if NNB_SOAK_SECONDS is set.
set -euo pipefail
. "$(dirname "$0")/../lttng.sh"
burstscope=$1 emit=$2 ask=$3 provider=$4 cases=$5

start_sessiond
told=0 most=${NNB_SOAK_SECONDS:+99}
for ((number = 0; told < ${most:-8}; number++)); do
	status=0
	"$emit" "$cases" "$number" "$provider" >/dev/null || status=$? # without a listener: can the case be emitted?
	((status != 3)) || break
	((status != 4)) || continue
	session "case$number" NOTICE exec_client exec_service
	name=$("$emit" "$cases" "$number" "$provider")
	end_session "case$number"
	quietly "$burstscope" import "$tmp/case$number" -o "$tmp/$number.db"
	"$ask" --ask "$tmp/$number.db" "$number" "$cases" >"$tmp/said" 2>&1 || { echo "$name:"; cat "$tmp/said"; exit 1; }
	told=$((told + 1))
done
((told >= (most ? 12 : 8))) || { echo "only $told cases can be told"; exit 1; }
echo "$told of the first $number cases, recorded, are exact"
