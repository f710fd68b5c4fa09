#!/usr/bin/env bash
# demo.sh LOAD SERVICE BURSTSCOPE -- a workload is recorded, imported and asked: for ./run demo.
set -euo pipefail
. "$(dirname "$0")/recording.sh"
load=$1 service=$2 burstscope=$3

shows() { echo "\$ $*"; }

# ask QUERY: it is shown, and answered.
ask()
{
	shows "burstscope sql demo.db \"$1\""
	"$burstscope" sql "$tmp/demo.db" "$1"
	echo
}

start_sessiond
session demo DEBUG_FUNCTION
shows "lttng enable-event --userspace 'nnburst:*' --loglevel=DEBUG_FUNCTION"
shows 'nnburstd --lanes 1 --policy fifo &'
shows 'nnburst-load deadline-mix >/dev/null'
start_service "$service" --lanes 1 --policy fifo
quietly "$load" --quiet --socket "$tmp/socket" deadline-mix
quietly stop_service
end_session demo
shows 'burstscope import -o demo.db demo'
"$burstscope" import -o "$tmp/demo.db" "$tmp/demo" 2>&1 | sed "s:$tmp/::"
echo

ask "SELECT a.name AS app, count(*) AS executions, count(e.miss) AS missed
FROM execution e JOIN app a ON a.id = e.app_id GROUP BY a.id"
ask "SELECT a.name AS missed_by, c.cause, b.name AS culprit, count(*) AS misses, sum(c.is_primary) AS first_cause,
    sum(c.saved) AS would_be_saved, sum(c.late_ns) / 1000 AS late_us
FROM miss_cause c JOIN execution e ON e.id = c.execution_id JOIN app a ON a.id = e.app_id
LEFT JOIN app b ON b.id = c.culprit_app_id WHERE c.late_ns > 0 GROUP BY 1, 2, 3 ORDER BY late_us DESC LIMIT 8"
ask "SELECT a.name AS app, round(s.ratio, 3) AS received_by_entitled, s.max_lag_ns / 1000 AS max_lag_us
FROM app_share s JOIN app a ON a.id = s.app_id"
((failures == 0))
