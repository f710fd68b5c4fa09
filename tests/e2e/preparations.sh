#!/usr/bin/env bash
# preparations.sh PREPARING SERVICE LOAD BURSTSCOPE CHECK -- an app that only prepares models holds lanes for their
# trial runs. Those are recorded as trial runs, count in the app's share, make others wait and miss deadlines because
# of that app, and are in no figure of executions. A late preparation has its event and its answer.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
command -v sqlite3 >/dev/null || { echo 'skipped: no sqlite3'; exit 77; }
preparing=$1 service=$2 load=$3 burstscope=$4 check=$5

# ask SQL: query the database of the recording.
ask() { "$burstscope" sql -q --format csv "$tmp/db" "$1" | tail -n 1; }

# is WHAT SQL: the query must return true.
is() { [[ $(ask "SELECT ($2) AS it") == 1 ]] || wrong "$name: it is not so that $1: $(ask "SELECT ($2) AS it")"; }

# record NAME FORM SERVICE-OPTION...: record a camera beside an app that prepares, into $tmp/db; or, if $alone is not
# 0, an app that prepares that many times, without a camera.
alone=0
record()
{
	local events=()
	name=$1 form=$2
	shift 2

	[[ $form != NOTICE ]] || events=(exec_client exec_service)
	session "$name" "$form" "${events[@]}"
	start_another "$service" "$@"
	"$preparing" "$tmp/socket" mobilenet-320 painter 1 "${deadline_us:-0}" "$alone" <"$tmp/until" >"$tmp/prepared" &
	preparing_pid=$!
	exec {until}>"$tmp/until"
	if ((!alone)); then
		until "$service" --status --socket "$tmp/socket" | grep -Eq '^connections +2 '; do sleep 0.02; done
		quietly "$load" --quiet --socket "$tmp/socket" --duration 1500ms "$tmp/camera.json"
		exec {until}>&-
	fi
	wait "$preparing_pid" || wrong "$name: the app that prepares does not end well"
	read -r n_prepared n_late n_refused <"$tmp/prepared"
	((!alone)) || exec {until}>&-
	stop_service || wrong "$name: nnburstd does not end well"
	end_session "$name"
	babeltrace2 --clock-cycles --no-delta "$tmp/$name" >"$tmp/$name.txt" 2>"$tmp/said" || wrong "$name cannot be read"
	[[ ! -s $tmp/said ]] || wrong "$name: $(head -3 "$tmp/said")"
	rm -f "$tmp/db"
	quietly "$burstscope" import -q -o "$tmp/db" "$tmp/$name"
	((n_prepared >= 3)) || wrong "$name: only $n_prepared models were prepared"
}

mkfifo "$tmp/until"
scenario camera '{"duration": "1s", "apps": [{"name": "camera", "streams": [{"model": "keyword", "priority": "high", "period": "10ms",
	"deadline": "2ms"}]}]}'
start_sessiond

# ---- properties of trial runs, in both forms of a recording ----

trials="execution x JOIN app a ON a.id = x.app_id WHERE a.name = 'painter' AND x.path = 'prepare'"
holds()
{
	is 'there are trial runs' "(SELECT count(*) >= 3 * $n_prepared - 6 FROM $trials)"
	is 'all that the app did is trial runs' "NOT EXISTS (SELECT 1 FROM execution x JOIN app a ON a.id = x.app_id
		WHERE a.name = 'painter' AND x.path IS NOT 'prepare')"
	is 'each has a model with a name' "NOT EXISTS (SELECT 1 FROM $trials AND NOT EXISTS (SELECT 1 FROM model m
		WHERE m.id = x.model_id AND m.name = 'mobilenet-320'))"
	is 'they are known in full' "(SELECT count(*) FROM $trials AND x.quality = 'complete' AND x.run_ns > 0 AND x.queue_ns >= 0) >= 3"
	is 'none of them has a time from end to end' "NOT EXISTS (SELECT 1 FROM execution WHERE path = 'prepare' AND (e2e_ns IS NOT NULL OR complete))"
	is 'no statistics have them' "NOT EXISTS (SELECT 1 FROM phase_stat WHERE path = 'prepare') AND NOT EXISTS (SELECT 1 FROM
		execution_count WHERE path = 'prepare') AND NOT EXISTS (SELECT 1 FROM typical WHERE path = 'prepare')"
	is 'their time on lanes is their app'"'"'s' "(SELECT s.received_ns > 0 FROM app_share s JOIN app a ON a.id = s.app_id WHERE a.name = 'painter')"
	is 'who waited for them waited for their app' "EXISTS (SELECT 1 FROM interference i JOIN app a ON a.id = i.by_app_id JOIN app b
		ON b.id = i.app_id WHERE a.name = 'painter' AND b.name = 'camera' AND i.ns > 0)"
	is 'waits behind them have a blocker' "EXISTS (SELECT 1 FROM wait w JOIN execution x ON x.id = w.blocker_id WHERE x.path = 'prepare')"
	"$burstscope" fairness "$tmp/db" >"$tmp/said" 2>&1 || true
	! grep -Eq 'nobody to share|no other app' "$tmp/said" || wrong "$name: fairness: $(cat "$tmp/said")"
	grep -q painter "$tmp/said" || wrong "$name: fairness does not name the painter: $(cat "$tmp/said")"
	"$burstscope" latency "$tmp/db" >"$tmp/said" 2>&1 || wrong "$name: latency fails: $(cat "$tmp/said")"
	! grep -q painter "$tmp/said" || wrong "$name: latency has trial runs: $(cat "$tmp/said")"
	bad=$(sqlite3 "$tmp/db" <"$(dirname "$0")/../analyzer/check.sql" 2>&1) || true
	[[ ! $bad ]] || wrong "$name: $bad"
}

record restarts DEBUG_FUNCTION --lanes 1 --policy priority --preempt save
"$check" --full "$tmp/$name.txt" --tolerance 100000 --strays 200 >"$tmp/judged" 2>&1 || wrong "$name: $(cat "$tmp/judged")"
grep -Eq '^[1-9][0-9]* trial runs$' "$tmp/judged" || wrong "$name: no trial runs were judged: $(cat "$tmp/judged")"
holds
is 'trial runs are preempted, for somebody' "(SELECT count(*) > 0 AND sum(p.by_execution_id IS NULL) = 0 FROM preemption p JOIN execution x
	ON x.id = p.execution_id WHERE x.path = 'prepare')"

record summaries NOTICE --lanes 1 --policy priority --preempt save
holds

# ---- an app that only prepares makes another one miss its deadlines ----

record culprit DEBUG_FUNCTION --lanes 1 --policy fifo --preempt none
holds
is 'misses are its doing' "(SELECT sum(misses) FROM culprit_stat c JOIN app a ON a.id = c.culprit_app_id WHERE a.name = 'painter'
	AND c.culprit_model = 'mobilenet-320') > 0"
"$burstscope" misses "$tmp/db" >"$tmp/said" 2>&1 || true
grep -q "painter" "$tmp/said" || wrong "misses does not name the painter: $(cat "$tmp/said")"

# ---- a late preparation is reported ----

deadline_us=3000
record late DEBUG_FUNCTION --lanes 1 --deadline advise
((n_late > 0)) || wrong "no preparation was late, of $n_prepared"
is 'those that were late have their event' "(SELECT count(*) FROM deadline_miss d JOIN model m ON m.id = d.model_id WHERE d.stage = 'prepare'
	AND d.kind = 'late' AND d.execution_id IS NULL AND d.deadline = m.deadline AND abs(d.over_ns - (m.prepared - m.deadline)) < 1000000) BETWEEN $n_late - 1 AND $n_late"
is 'and the client says so, too, of each' "(SELECT count(DISTINCT d.model_id) FROM deadline_miss d JOIN model m ON m.id = d.model_id WHERE d.stage = 'returned'
	AND d.kind = 'late' AND d.execution_id IS NULL AND d.deadline = m.deadline AND d.over_ns >= m.prepared - m.deadline) BETWEEN $n_late - 1 AND $n_late"
"$burstscope" misses "$tmp/db" >"$tmp/said" 2>&1 || true
grep -Eq "painter +mobilenet-320" "$tmp/said" || wrong "misses does not tell of late preparations: $(cat "$tmp/said")"
"$burstscope" summary "$tmp/db" >"$tmp/said" 2>&1 || true
grep -Eq 'preparations?' "$tmp/said" || wrong "summary does not tell of late preparations: $(cat "$tmp/said")"

# ---- and so is one that was given up ----

deadline_us=1 alone=100
record refused DEBUG_FUNCTION --lanes 1
((n_refused > 0)) || wrong "no preparation was refused, of $n_prepared"
is 'those that were refused have their event, and it has their model' "(SELECT count(*) FROM deadline_miss d JOIN model m ON m.id = d.model_id
	WHERE d.stage = 'prepare' AND d.kind IN ('transient', 'persistent') AND d.deadline = m.deadline AND m.status LIKE 'MISSED_DEADLINE%' AND d.over_ns > 0)
	BETWEEN $n_refused - 1 AND $n_refused"
is 'none is without its model' "NOT EXISTS (SELECT 1 FROM deadline_miss WHERE execution_id IS NULL AND model_id IS NULL)"
"$burstscope" misses "$tmp/db" >"$tmp/said" 2>&1 || true
grep -Eq "painter +mobilenet-320 .* (0 +)?$n_refused " "$tmp/said" || wrong "misses does not tell of refused preparations: $(cat "$tmp/said")"
"$burstscope" summary "$tmp/db" >"$tmp/said" 2>&1 || true
grep -Eq "painter's mobilenet-320: .* preparations missed their deadline \(.*refused\)" "$tmp/said" || wrong "summary does not tell of refused preparations: $(cat "$tmp/said")"

# ---- a recording of preparations alone ----

deadline_us=3000

alone=8
record alone DEBUG_FUNCTION --lanes 1 --deadline advise
"$burstscope" summary "$tmp/db" >"$tmp/said" 2>&1 || wrong "summary of an app alone: $(cat "$tmp/said")"
! grep -q 'contains nothing to analyse' "$tmp/said" || wrong "summary has nothing to ask about: $(cat "$tmp/said")"
grep -Eq "painter's mobilenet-320: .* preparations missed their deadline" "$tmp/said" || wrong "summary, alone: $(cat "$tmp/said")"
"$burstscope" misses "$tmp/db" >"$tmp/said" 2>&1 || wrong "misses of an app alone: $(cat "$tmp/said")"
grep -Eq "painter +mobilenet-320" "$tmp/said" || wrong "misses, alone: $(cat "$tmp/said")"

((failures == 0)) || exit 1
echo "preparations: recorded, counted, to blame, and late"
