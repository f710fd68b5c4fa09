#!/usr/bin/env bash
# impostors.sh BURSTSCOPE SERVICE LOAD FORGE PROVIDER MISNAMED -- beside a service of root's and its client, another
# user emits events of the service and of that client through LTTng, and three users emit events whose names spoil
# their metadata. The answers about the recording must be those without the buffers of these users.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
command -v sqlite3 >/dev/null || { echo 'skipped: no sqlite3'; exit 77; }
((EUID == 0)) || { echo 'skipped: only root can be several users'; exit 77; }
setpriv --reuid 65533 --regid 65533 --clear-groups true 2>"$tmp/null" || { echo 'skipped: there are no other users'; exit 77; }
burstscope=$1 service=$2 load=$3 forge=$4 provider=$5 misnamed=$6
check=$(dirname "$0")/../analyzer/check.sql

# Programs of other users must be where these users can read them.
chmod 755 "$tmp"
mkdir -m 755 "$tmp/bin"
cp "$forge" "$load" "$provider" "$misnamed" "$tmp/bin"
chmod 755 "$tmp/bin"/*
chmod 1777 /dev/shm

# as UID COMMAND...: run it as that user, whom root's session daemon traces.
as() { setpriv --reuid "$1" --regid "$1" --clear-groups env LTTNG_HOME="$tmp/nobody" NNBURST_TRACEPOINTS="$tmp/bin/${provider##*/}" "${@:2}"; }

scenario victim '{"executions": 300, "apps": [{"name": "victim", "streams": [{"model": "mlp", "deadline": "50ms"}, {"name": "s", "model": "mlp", "path": "sync"}]}]}'
chmod 644 "$tmp/victim.json"

start_sessiond
session both DEBUG_FUNCTION
"$service" --socket "$tmp/socket" --app-identity uid &
daemon=$!
until [[ -S $tmp/socket ]]; do
	kill -0 "$daemon" 2>"$tmp/null" || { echo 'nnburstd does not start'; exit 1; }
	sleep 0.05
done
instance=$("$service" --status --socket "$tmp/socket" | sed -nE 's/^process [0-9]+, instance ([0-9]+),.*/\1/p')
as 65533 "$tmp/bin/${forge##*/}" "$tmp/bin/${provider##*/}" "$instance" >"$tmp/begun" &
forger=$!
until [[ -s $tmp/begun ]]; do
	kill -0 "$forger" 2>"$tmp/null" || wrong 'the forger does not begin'
	((failures == 0)) || exit 1
	sleep 0.05
done
# Standard input holds each of them until everything is recorded.
declare -A spoils=([65530]=name [65531]=field [65532]=twice)
mkfifo "$tmp/hold"
exec {hold}<>"$tmp/hold"
spoilers=()
for uid in "${!spoils[@]}"; do
	as "$uid" "$tmp/bin/${misnamed##*/}" "${spoils[$uid]}" <"$tmp/hold" >"$tmp/registered.$uid" {hold}>&- &
	spoilers+=($!)
done
for uid in "${!spoils[@]}"; do
	until [[ -s $tmp/registered.$uid ]]; do
		(($(jobs -rp | wc -l) > 4)) || { echo 'who spoils names does not begin'; exit 1; }
		sleep 0.05
	done
done
quietly as 65534 "$tmp/bin/${load##*/}" --quiet --socket "$tmp/socket" "$tmp/victim.json"
await_end "$forger" 'the forger ends' || wrong 'the forger fails'
stop_service
end_session both
kill "${spoilers[@]}"
exec {hold}>&-

# ---- what LTTng shows of each user ----

for uid in 0 65533 65534 "${!spoils[@]}"; do
	[[ -d $tmp/both/ust/uid/$uid ]] || wrong "no buffers of $uid: $(find "$tmp/both" -type d | tr '\n' ' ')"
done

# ---- the answers ----

"$burstscope" import -o "$tmp/all.db" "$tmp/both" 2>"$tmp/said" || wrong "import: $(<"$tmp/said")"
[[ $(<"$tmp/said") == *"events claim another user's uid and are left out"* ]] || wrong "import does not say it: $(<"$tmp/said")"
[[ $(<"$tmp/said") == *'files of 3 users or processes are unreadable and were left out'* ]] || wrong "import does not say it: $(<"$tmp/said")"
cp -r "$tmp/both" "$tmp/without"
rm -r "$tmp/without/ust/uid"/6553[0-3]
"$burstscope" import -o "$tmp/without.db" "$tmp/without" 2>"$tmp/said" || wrong "import: $(<"$tmp/said")"
[[ $(<"$tmp/said") != *'another user'* ]] || wrong "import of what is true: $(<"$tmp/said")"

# With one more trace, the numbers of traces and of rows by trace differ; their contents do not.
columns='e.exec, e.path, e.status, e.miss, e.quality, e.sides, e.submitted - t.began, e.e2e_ns, e.run_ns, e.queue_ns, e.deadline - t.began, e.lateness_ns, a.uid, a.name'
for db in all without; do
	sqlite3 -readonly "$tmp/$db.db" "SELECT $columns FROM execution e LEFT JOIN app a ON a.id = e.app_id,
		(SELECT min(began) AS began FROM trace WHERE uid IN (0, 65534)) t ORDER BY e.exec" >"$tmp/$db.executions"
	sqlite3 -readonly "$tmp/$db.db" 'SELECT policy, preempt, lanes FROM service_rules; SELECT uid, name FROM app ORDER BY 1, 2;
		SELECT pid, role, name FROM process ORDER BY 1, 2; SELECT count(*), sum(late_ns) FROM miss_cause;
		SELECT received_ns, entitled_ns FROM app_share ORDER BY 1; SELECT count(*), sum(ended - began) FROM wait' >"$tmp/$db.rest"
	found=$(sqlite3 -readonly "$tmp/$db.db" <"$check")
	[[ ! $found ]] || wrong "$db.db: $(head -3 <<<"$found")"
done
cmp -s "$tmp/all.executions" "$tmp/without.executions" || wrong "executions: $(diff "$tmp/all.executions" "$tmp/without.executions" | head -6)"
cmp -s "$tmp/all.rest" "$tmp/without.rest" || wrong "the rest: $(diff "$tmp/all.rest" "$tmp/without.rest" | head -6)"
found=$(sqlite3 -readonly "$tmp/all.db" "SELECT count(*), sum(quality = 'complete'), sum(sides = 'both') FROM execution WHERE path <> 'prepare'")
[[ $found == '600|600|600' ]] || wrong "not 600 complete executions of both sides, but $found"
# Clients have buffers of their own. Their executions still count as the service's, and fairness covers all of them.
found=$(sqlite3 -readonly "$tmp/all.db" 'SELECT count(*), (SELECT sum(n) FROM app_sharing) FROM execution
	WHERE trace_id IN (SELECT trace_id FROM service_rules) AND enqueued IS NOT NULL AND path <> '"'prepare'")
[[ $found == '600|600' ]] || wrong "not 600 executions of the service, and in its fair sharing, but $found"
found=$(sqlite3 -readonly "$tmp/all.db" "SELECT uid, impostor_events > 1000, unreadable FROM trace ORDER BY uid")
[[ $found == $'0|0|0\n65530|0|1\n65531|0|1\n65532|0|1\n65533|1|0\n65534|0|0' ]] || wrong "impostors: $found"
"$burstscope" summary "$tmp/all.db" >"$tmp/said" 2>&1 || true
[[ $(tail -1 "$tmp/said") == *'files of 3 users or processes are unreadable and were left out'* ]] || wrong "the coverage of an answer: $(tail -1 "$tmp/said")"
[[ $(tail -1 "$tmp/said") == *"events claim another user's uid and are left out" ]] || wrong "the coverage of an answer: $(tail -1 "$tmp/said")"
"$burstscope" doctor "$tmp/all.db" >"$tmp/said" 2>&1 || true
grep -q "65533" "$tmp/said" || wrong "doctor: $(<"$tmp/said")"

# ---- the same in buffers by process, whose users LTTng does not record ----

quietly lttng --no-sessiond create by_pid --output="$tmp/by_pid"
quietly lttng --no-sessiond enable-channel --session by_pid --userspace --buffers-pid of_processes
quietly lttng --no-sessiond enable-event --session by_pid --channel of_processes --userspace 'nnburst:*' --loglevel=DEBUG_FUNCTION
quietly lttng --no-sessiond start by_pid
start_service "$service"
exec {hold}<>"$tmp/hold"
spoilers=()
for how in "${spoils[@]}"; do
	NNBURST_TRACEPOINTS=$tmp/bin/${provider##*/} "$tmp/bin/${misnamed##*/}" "$how" <"$tmp/hold" >"$tmp/registered.$how" {hold}>&- &
	spoilers+=($!)
done
for how in "${spoils[@]}"; do
	until [[ -s $tmp/registered.$how ]]; do
		(($(jobs -rp | wc -l) > 4)) || { echo 'who spoils names does not begin'; exit 1; }
		sleep 0.05
	done
done
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/victim.json"
stop_service
end_session by_pid
kill "${spoilers[@]}"
exec {hold}>&-
"$burstscope" import -o "$tmp/by_pid.db" "$tmp/by_pid" 2>"$tmp/said" || wrong "import of buffers of processes: $(<"$tmp/said")"
[[ $(<"$tmp/said") == *'files of 3 users or processes are unreadable and were left out'* ]] || wrong "import does not say it: $(<"$tmp/said")"
[[ $("$burstscope" sql -q --format csv "$tmp/by_pid.db" "SELECT count(*) FROM execution WHERE sides = 'both' AND path <> 'prepare'" | tail -1) == 600 ]] ||
	wrong "of 600 executions: $("$burstscope" summary "$tmp/by_pid.db" 2>&1 | tail -1)"

((failures == 0)) || exit 1
echo 'impostors.sh: whoever says to be another is left out'
