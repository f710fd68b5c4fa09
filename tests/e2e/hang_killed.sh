#!/usr/bin/env bash
# hang_killed.sh BURSTSCOPE SERVICE LOAD -- a service that is killed in the midst of a recording: burstscope record reports it and ends with status 5,
# with and without a command; import, doctor and check report the silence.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
burstscope=$1 service=$2 load=$3
export LC_ALL=C.UTF-8

echo 'p100 e2e <= 1500ms' >"$tmp/rules"
scenario brief '{"name": "brief", "duration": "60s", "apps": [
	{"name": "kws", "streams": [{"name": "k", "model": "keyword", "deadline": "1s", "threads": 2}, {"name": "l", "model": "keyword", "path": "sync"}]}]}'

# killed NAME WORDS OPTION...: a recording in whose midst the service is killed ends with status 5, and its last line has the words.
killed()
{
	local status=0 pid

	start_service "$service" --lanes 1
	begin_load brief
	goes_on "$service"
	pid=$daemon
	env --default-signal=INT "$burstscope" record -o "$tmp/$1" "${@:3}" >/dev/null 2>"$tmp/$1.said" &
	recorder=$!
	awaits "[[ -e $tmp/$1/burstscope.record ]]" 'it records'
	goes_on "$service"
	kill -9 "$daemon"
	daemon=
	await_end "$load_pid" 'the load ends' 2>/dev/null || true
	sleep 0.5 # a silence of less than 100 ms is none
	kill -INT "$recorder"
	await_end "$recorder" 'the recording ends' || status=$?
	((status == 5)) || wrong "$1: record ends with $status"
	tail -n 1 "$tmp/$1.said" | grep -qE "^burstscope: record: the service \(pid $pid\) has ended$2" || wrong "$1: record: $(<"$tmp/$1.said")"
	(($(grep -c '^burstscope:' "$tmp/$1.said") == 1)) || wrong "$1: not one line: $(<"$tmp/$1.said")"
}

# covers FILE: the text reports the silence.
covers() { grep -qE '; no event of the service was recorded in the last [0-9.]+ m?s, though clients had work for it' "$1" || wrong "${BASH_LINENO[0]}: $(<"$1")"; }

start_sessiond
killed killed ': no event of it was recorded in the last [0-9.]+ m?s, though clients had work for it$'
"$burstscope" import -o "$tmp/killed.db" "$tmp/killed" 2>"$tmp/killed.said" || wrong "import: $(<"$tmp/killed.said")"
covers "$tmp/killed.said"
"$burstscope" doctor "$tmp/killed.db" >"$tmp/killed.doctor" || wrong 'doctor ends badly'
covers "$tmp/killed.doctor"
"$burstscope" check --slo "$tmp/rules" "$tmp/killed.db" >"$tmp/killed.checked" || true
covers "$tmp/killed.checked"
killed killed_beside ': no event of it was recorded in the last [0-9.]+ m?s, ' -- sleep 60
killed killed_compact ', and [0-9]+ executions? found their service dead \(DEAD_OBJECT\)$' --detail compact

exit $((failures > 0))
