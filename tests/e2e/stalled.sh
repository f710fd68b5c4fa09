#!/usr/bin/env bash
# stalled.sh BURSTSCOPE SERVICE LOAD HOLD_PAGES -- pages of apps' memory take long, so that executions lose their lanes while
# they wait for one (sched_preempt with the mode stalled). The database of such a run holds what every database must, its
# figures are those that its events have, and the commands say what happened.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
command -v sqlite3 >/dev/null || { echo 'skipped: no sqlite3'; exit 77; }
burstscope=$1 service=$2 load=$3 hold_pages=$4
here=$(cd "$(dirname "$0")" && pwd)
sql=$here/../analyzer
export LC_ALL=C.UTF-8

# With one lane, one execution waits while the other one is on it.
scenario crowd '{"name": "crowd", "duration": "60s", "apps": [
	{"name": "cam", "streams": [{"name": "f", "model": "mobilenet-96", "priority": "high", "deadline": "30ms"}]},
	{"name": "bg", "streams": [{"name": "n", "model": "mobilenet-96", "priority": "low", "threads": 2}]}]}'

start_sessiond
session run DEBUG_FUNCTION
# Without preemption, what leaves a lane unfinished has lost it.
LD_PRELOAD=$hold_pages start_service "$service" --lanes 1 --preempt none 2>"$tmp/service.said"
if grep -q 'no userfaultfd' "$tmp/service.said"; then echo 'skipped: no userfaultfd'; exit 77; fi
"$load" --quiet --socket "$tmp/socket" "$tmp/crowd.json" >"$tmp/load.said" 2>&1 &
load_pid=$!
goes_on "$service"
losses() { "$service" --status --socket "$tmp/socket" | awk '/^app /{ n = 1; next } n && NF > 6 { sum += $3 } END { print sum + 0 }'; }
awaits '(($(losses) >= 6))' 'executions lose their lanes'
awaits "((\$(requests '$service') >= 300))" 'there are enough executions for a replay'
kill -INT "$load_pid" 2>/dev/null || true
kill "$load_pid" 2>/dev/null || true
await_end "$load_pid" 'the load ends' 2>/dev/null || true
stop_service || wrong "nnburstd does not end well ($?): $(<"$tmp/service.said")"
end_session run

"$burstscope" import -q -o "$tmp/run.db" "$tmp/run" >"$tmp/said" 2>&1 || wrong "import: $(<"$tmp/said")"
ask() { sqlite3 -readonly -bail "$tmp/run.db" "$1"; }
n=$(ask "SELECT count(*) FROM preemption WHERE mode = 'stalled'")
((n > 0)) || wrong "no execution was stalled: $(<"$tmp/service.said")"

# ---- what must hold of every database, and what the events say ----
found=$(sqlite3 -readonly -bail "$tmp/run.db" ".read '$sql/check.sql'" 2>&1) || true
[[ ! $found ]] || wrong "check.sql: $(head -5 <<<"$found")"
mkdir "$tmp/text"
babeltrace2 --clock-cycles --no-delta "$tmp/run" 2>/dev/null | awk -f "$here/event_rows.awk" >"$tmp/text/rows"
(cd "$tmp/text" && sqlite3 -bail "$tmp/run.truth" ".read '$sql/recompute.sql'") || wrong 'the events are no table'
for file in recomputed recomputed_lanes; do
	found=$(sqlite3 -readonly -bail "$tmp/run.db" "ATTACH 'file:$tmp/run.truth?mode=ro' AS truth" ".read '$sql/$file.sql'" 2>&1) || true
	[[ ! $found ]] || wrong "$file: $(wc -l <<<"$found") differ: $(head -5 <<<"$found")"
done

# ---- from the loss of the lane until it is ready again, an execution waits for none; from then on it does ----
nothing() { # WHAT QUERY
	found=$(ask "$2")
	[[ ! $found ]] || wrong "$1: $(head -3 <<<"$found")"
}
nothing 'a lost lane is no stall from then on, or not for the reason that the event has' "
	SELECT p.execution_id, p.stopped, p.resumed FROM preemption p WHERE p.mode IN ('stalled', 'no_cpu') AND NOT EXISTS (
		SELECT 1 FROM wait w WHERE w.execution_id = p.execution_id AND w.began = p.stopped AND w.cause = iif(p.mode = 'stalled', 'stalled', 'machine_busy'))"
nothing 'it may have waited while it was stalled' "
	SELECT v.* FROM possible_wait v JOIN preemption p USING (execution_id) WHERE p.mode IN ('stalled', 'no_cpu') AND v.ended > p.stopped"
nothing 'fair sharing is certain to meet a deadline that the execution did not wait past' "
	SELECT s.app_id, s.ideal_met_least, o.n FROM app_sharing s JOIN (
		SELECT e.app_id, count(*) AS n FROM execution e WHERE e.deadline IS NOT NULL AND (e.run_ended <= e.deadline OR e.enqueued IS NULL OR EXISTS (
				SELECT 1 FROM wait w WHERE w.execution_id = e.id AND w.occupancy = 'held')
			AND NOT EXISTS (SELECT 1 FROM wait w WHERE w.execution_id = e.id AND w.cause = 'stalled' AND w.ended = e.run_ended AND e.status IS NOT 'NONE'))
		GROUP BY 1) o USING (app_id) WHERE s.ideal_met_least > o.n"
ready=$(grep -c '^[0-9]*	sched_ready	' "$tmp/text/rows") || true
n=$(ask "SELECT count(*) FROM wait s JOIN wait w ON w.execution_id = s.execution_id AND w.began = s.ended WHERE s.cause IN ('stalled', 'machine_busy') AND s.kind = 'preempted' AND w.kind = 'preempted'")
((ready > 0 && ready == n)) || wrong "$ready were ready again, and $n waited from then on"

# ---- what the commands say ----
id=$(ask "SELECT execution_id FROM preemption WHERE mode = 'stalled' AND resumed IS NOT NULL LIMIT 1")
for words in "explain $id" "timeline --around $id" preemptions whatif\ --lanes\ 2 fairness summary; do
	read -ra command <<<"$words"
	"$burstscope" "${command[@]}" "$tmp/run.db" >"$tmp/${command[0]}.said" 2>&1 || (($? == 1)) || wrong "$words: $(head -5 "$tmp/${command[0]}.said")"
done
for command in explain preemptions; do
	grep -q stalled "$tmp/$command.said" || wrong "$command does not say that it was stalled: $(head -40 "$tmp/$command.said")"
done
grep -q 'lost its lane because its thread could not use it' "$tmp/whatif.said" || wrong 'whatif does not say what it cannot know'

exit $((failures > 0))
