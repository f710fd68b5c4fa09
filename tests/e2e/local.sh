#!/usr/bin/env bash
# local.sh APP BURSTSCOPE CHECK DRIVER -- an app misses deadlines by bursts of its own process, without a service. They
# are recorded and answered like others: each has its event, its row and its cause, in both forms of a recording, and
# misses, summary, explain and check count it. Other work of the machine may change how an execution misses its
# deadline, so the app prints the status that it got.
set -euo pipefail
. "$(dirname "$0")/../lttng.sh"
app=$1 burstscope=$2 check=$3 driver=$4
refused=20 stopped=30 late=50 called=10 failures=0
all=$((refused + stopped + late + called))

wrong()
{
	echo "local.sh: $*"
	failures=$((failures + 1))
}

# is WHAT SQL VALUE: the query must return VALUE.
is()
{
	local got
	got=$("$burstscope" sql -q --format csv "$tmp/db" "$2" | tail -n +2 | tr '\n' ';')
	[[ $got == "$3;" ]] || wrong "$name: $1: $got, not $3;"
}

# says WORDS COMMAND...
says()
{
	local words=$1
	shift
	"$burstscope" "$@" "$tmp/db" >"$tmp/answer" 2>&1 || true
	grep -qF -- "$words" "$tmp/answer" || wrong "$name: $* does not say '$words': $(head -5 "$tmp/answer")"
}

# The database must have the statuses that the app printed, in the same order.
agrees_with_the_app()
{
	"$burstscope" sql -q --format csv "$tmp/db" "SELECT exec || ' ' || status FROM execution WHERE miss IS NOT NULL ORDER BY id" |
		tail -n +2 >"$tmp/missed"
	cmp -s "$tmp/missed" "$tmp/said_by_app" ||
		wrong "$name: the app and the database differ: $(diff "$tmp/said_by_app" "$tmp/missed" | head -5)"
}

echo 'miss ratio of app=local_app <= 1 %' >"$tmp/slo"
# with STATUS: print how many late executions had that status, by the app's output.
with() { grep -c " $1\$" "$tmp/said_by_app" || true; }

start_sessiond
for name in full compact; do
	events=()
	level=DEBUG_FUNCTION
	[[ $name == full ]] || { events=(exec_client exec_service); level=NOTICE; }
	session "$name" "$level" "${events[@]}"
	"$app" "$driver" $refused $stopped $late $called >"$tmp/said_by_app"
	end_session "$name"
	persistent=$(with MISSED_DEADLINE_PERSISTENT) stopped_or_waited=$(with MISSED_DEADLINE_TRANSIENT) done_late=$(with NONE)
	babeltrace2 --clock-cycles --no-delta "$tmp/$name" >"$tmp/text"
	"$check" --own "--$name" "$tmp/text" >"$tmp/judged" 2>&1 || wrong "$name: $(tail -3 "$tmp/judged")"
	rm -f "$tmp/db"
	quietly "$burstscope" import -q -o "$tmp/db" "$tmp/$name"

	agrees_with_the_app
	((persistent >= refused && persistent + stopped_or_waited + done_late == all)) || wrong "$name: $(sort -k2 "$tmp/said_by_app" | uniq -c)"
	is 'misses' "SELECT miss, status, count(*) FROM execution WHERE miss IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2" \
		"aborted,MISSED_DEADLINE_PERSISTENT,$persistent;aborted,MISSED_DEADLINE_TRANSIENT,$stopped_or_waited;late,NONE,$done_late"
	is 'each has its event' "SELECT replace(stage, 'queue', 'running'), count(DISTINCT execution_id) FROM deadline_miss GROUP BY 1 ORDER BY 1" \
		"admission,$persistent;done,$done_late;returned,$done_late;running,$stopped_or_waited"
	is 'events say what the rows say' "SELECT count(*) FROM deadline_miss d JOIN execution x ON x.id = d.execution_id
		WHERE d.deadline IS NOT x.deadline OR d.over_ns < 0 OR d.trace_id IS NOT x.trace_id" 0
	is 'lateness is known, and is after the deadline' "SELECT count(*) FROM execution WHERE miss IS NOT NULL AND lateness_ns > 0 AND complete" "$all"
	is 'who is late is as late as its answer' "SELECT count(*) FROM execution WHERE miss = 'late' AND lateness_ns IS NOT returned - deadline" 0
	is 'each has a primary cause' "SELECT count(DISTINCT execution_id), sum(is_primary) FROM miss_cause" "$all,$all"
	is 'what had no time is submitted late' "SELECT count(*) FROM miss_cause c JOIN execution x ON x.id = c.execution_id
		WHERE c.is_primary AND x.deadline < x.submitted AND c.cause IS NOT 'submitted_late'" 0
	is 'nobody else is to blame' "SELECT count(culprit_app_id) FROM miss_cause" 0
	is 'those in time are not missed' "SELECT count(*) FROM execution WHERE miss IS NULL" 4
	is 'what the queues could not carry is a call' "SELECT path, fallback, count(*) FROM execution GROUP BY 1, 2" \
		"burst,0,$((all - called + 3));sync,1,$((called + 1))"
	says "$all of $all deadlines missed (100 %)" misses
	says "$all of $all deadlines were missed (100 %)" summary
	says "who missed: local_app $all of $all" summary
	says 'LATE by' explain worst
	says 'its budget was -' explain "$("$burstscope" sql -q --format csv "$tmp/db" "SELECT min(id) FROM execution WHERE status LIKE '%PERSISTENT'" | tail -1)"
	status=0
	"$burstscope" check --slo "$tmp/slo" "$tmp/db" >"$tmp/answer" 2>&1 || status=$?
	((status == 1)) || wrong "$name: check ends with $status: $(tail -5 "$tmp/answer")"
	grep -q "FAIL.*$all of $all" "$tmp/answer" || wrong "$name: check says $(grep FAIL "$tmp/answer")"
done

((failures == 0))
