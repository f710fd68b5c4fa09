#!/usr/bin/env bash
# import_scenarios.sh BURSTSCOPE SERVICE LOAD -- the database of each shipped scenario is true. All are recorded, one
# after the other, in full, in compact, and in both forms in one trace; then imported, and compared with nnburst-load's
# own logs and reports, and with tests/analyzer/check.sql. The three databases agree. Their traces for Perfetto have
# what the database has.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
command -v sqlite3 >/dev/null || { echo 'skipped: no sqlite3'; exit 77; }
burstscope=$1 service=$2 load=$3
sql=$(dirname "$0")/../analyzer viewer=$(dirname "$0")/../viewer

# finds WHAT DB FILE.sql [LINE...]: the queries of FILE, after LINEs, must find nothing wrong with the database.
finds()
{
	local what=$1 db=$2 file=$3 found
	shift 3

	found=$({ printf '%s\n' "$@"; cat "$file"; } | sqlite3 -readonly -bail "$db" 2>&1) || true
	[[ ! $found ]] || wrong "$what: $(head -8 <<<"$found")"
}

# judge FORM: import that recording, and compare it with nnburst-load's log.
judge()
{
	local db=$tmp/$1.db

	if ! "$burstscope" import -q -o "$db" "$tmp/$1" 2>"$tmp/said"; then
		wrong "$1: $(<"$tmp/said")"
		return
	fi
	finds "$1" "$db" "$sql/check.sql"
	finds "$1" "$db" "$sql/lossless.sql"
	finds "$1" "$db" "$sql/witness.sql" "ATTACH '$tmp/load.db' AS load;"
}

# run SCENARIO DURATION [OPTION...]: run it with a service with these options, and add nnburst-load's log to
# $tmp/load.db. Numbers of executions are unsigned there and signed in SQLite, so 2^64 is subtracted from large ones.
run()
{
	local what=$1 duration=$2
	shift 2

	start_another "$service" "$@"
	quietly "$load" --quiet --socket "$tmp/socket" --duration "$duration" --log "$tmp/log" --format json "$what"
	stop_service || wrong "$what: nnburstd does not end well"
	sqlite3 "$tmp/load.db" "INSERT INTO report VALUES (readfile('$tmp/said'))" \
		'CREATE TABLE text(exec TEXT, submitted INTEGER, returned INTEGER, status TEXT, path TEXT)' \
		'.mode tabs' ".import --skip 1 '$tmp/log' text" \
		"INSERT INTO log SELECT iif(length(exec) < 19 OR (length(exec) = 19 AND exec <= '9223372036854775807'),
			CAST(exec AS INTEGER), (CAST(substr(exec, 1, length(exec) - 9) AS INTEGER) - 18446744073) * 1000000000
			+ CAST(substr(exec, -9) AS INTEGER) - 709551616), submitted, returned, status, path FROM text" \
		'DROP TABLE text'
}

sqlite3 "$tmp/load.db" 'CREATE TABLE report(report TEXT)' \
	'CREATE TABLE log(exec INTEGER, submitted INTEGER, returned INTEGER, status TEXT, path TEXT)'
start_sessiond
session full DEBUG_FUNCTION
session compact NOTICE exec_client exec_service
session both DEBUG_FUNCTION exec_client exec_service

run audio 200ms --lanes 2
run camera+background 200ms --lanes 1 --preempt restart
run cold-start 200ms --lanes 2 --policy priority
run deadline-mix 300ms --lanes 1 --policy priority --preempt restart
run demo 1200ms --lanes 1 --policy fifo --deadline advise
run inversion 200ms --lanes 1 --policy priority
run noisy-neighbour 200ms --lanes 2 --preempt restart
run starvation 300ms --lanes 1
run stateful-audio 200ms --lanes 2 --policy priority
run too-big 1200ms --lanes 1
run transport 200ms --lanes 2
shipped=$("$load" --list | wc -l)
((shipped == 11)) || wrong "there are $shipped shipped scenarios: have the new ones recorded, too"

for form in full compact both; do end_session $form; done
for form in full compact both; do judge $form; done
for form in compact both; do
	finds "full and $form" "$tmp/full.db" "$sql/agree.sql" "ATTACH '$tmp/$form.db' AS other;"
done
sqlite3 -readonly "$tmp/full.db" "ATTACH '$tmp/load.db' AS load;" ".read '$sql/apart.sql'"
if command -v protoc >/dev/null && command -v python3 >/dev/null; then
	"$burstscope" export --to perfetto -o "$tmp/full.pftrace" "$tmp/full.db"
	python3 "$viewer/trackevent.py" "$tmp/full.pftrace" "$tmp/events.db" 2>"$tmp/said" || wrong "the trace for Perfetto: $(<"$tmp/said")"
	finds 'the trace for Perfetto' "$tmp/events.db" "$viewer/trackevent.sql" "ATTACH '$tmp/full.db' AS d;"
fi

((failures == 0)) || exit 1
