#!/usr/bin/env bash
# trackevent.sh BURSTSCOPE TRACE_FROM_TEXT -- `export --to perfetto` and `--to chrome` have what the database has, each
# row once, to the nanosecond: protoc decodes the traces of the golden tests (trackevent.py), and trackevent.sql
# compares them with the database.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) golden=$(cd "$(dirname "$0")/../golden" && pwd)
burstscope=$1 trace_from_text=$2
for tool in protoc python3 sqlite3; do
	command -v "$tool" >/dev/null || {
		echo "trackevent.sh: skipped: there is no $tool"
		exit 77
	}
done
python=$(python3 -c 'import sys; print(sys.executable)') # the interpreter itself: a wrapper can take half a second to find it, each time
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0 looked=0 apps=${NNB_APPS:-5000}
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"

wrong()
{
	echo "trackevent.sh: $*"
	failures=$((failures + 1))
}

# read_back TRACE [COMPRESSED]: decode the trace into out.db
read_back()
{
	rm -f out.db out.db-journal
	"$python" "$here/trackevent.py" "$1" out.db "${@:2}"
}

# agrees DB WHAT: compare out.db with the database
agrees()
{
	looked=$((looked + 1))
	sqlite3 out.db "ATTACH '$1' AS d" ".read $here/trackevent.sql" >violations 2>&1 || wrong "$2: $(<violations)"
	[[ ! -s violations ]] || wrong "$2: $(head -5 violations)"
}

# has WHAT SQL N: the query of out.db must return N
has()
{
	local n
	looked=$((looked + 1))
	n=$(sqlite3 out.db "$2")
	[[ $n == "$3" ]] || wrong "$1: $n, not $3"
}

# ---- the whole of a database ----
for trace in "$golden"/*.trace; do
	name=$(basename "$trace" .trace)
	"$trace_from_text" -e full -s "$name" -o 1700000000000000000 "$name" <"$trace"
	"$burstscope" import -q -o "$name.db" "$name"
	began=$("$burstscope" sql --format csv "$name.db" 'SELECT min(b) - (SELECT min(clock_offset) FROM trace)
		FROM (SELECT min(began) AS b FROM trace UNION ALL SELECT min(began) FROM id_block)' | tail -1)

	"$burstscope" export --to perfetto --compress -o "$name.z" "$name.db"
	"$burstscope" export --to perfetto -o "$name.pftrace" "$name.db"
	read_back "$name.pftrace" "$name.z" && agrees "$name.db" "$name"
	(($(stat -c %s "$name.z") * 2 < $(stat -c %s "$name.pftrace"))) || wrong "$name: hardly compressed"
	"$burstscope" export --to chrome "$name.db" >"$name.json"
	"$python" "$here/chrome.py" "$name.json" out.db "$began" || wrong "$name: the JSON"
	"$burstscope" export --to perfetto "$name.db" | cmp - "$name.pftrace" || wrong "$name: a pipe has something else"
done
has 'waits that were found' "SELECT count(*) > 5 FROM event WHERE cats LIKE '%wait%'" 1

status=0
"$python" "$here/trackevent.py" camera.pftrace out.db unfair.z 2>said || status=$?
[[ $status == 1 && $(<said) == *'holds something else'* ]] || wrong "another trace, compressed: $(<said)"
read_back camera.z && agrees camera.db 'compressed, read as Perfetto reads it'

# The comparison must find these faults: each lacks one row, or has one at another time.
read_back camera.pftrace
cp out.db whole.db
for edit in "DELETE FROM event WHERE cats = 'miss' AND id = (SELECT max(id) FROM event WHERE cats = 'miss')" \
	"UPDATE event SET began = began + 1 WHERE id = (SELECT max(id) FROM event WHERE cats LIKE '%wait%')" \
	"UPDATE counter SET value = value + 1 WHERE rowid = 3" "DELETE FROM flow WHERE rowid = (SELECT max(rowid) FROM flow)" \
	"UPDATE event SET ended = ended - 1 WHERE id = (SELECT max(id) FROM event WHERE cats = 'lane')" \
	"UPDATE arg SET value = 'nobody' WHERE name = 'cause' AND event = (SELECT max(event) FROM arg WHERE name = 'cause')"; do
	cp whole.db out.db
	sqlite3 out.db "$edit"
	sqlite3 out.db "ATTACH 'camera.db' AS d" ".read $here/trackevent.sql" >violations
	[[ -s violations ]] || wrong "not noticed: $edit"
	looked=$((looked + 1))
done

# ---- an execution that is given up while preempted waits until then ----
cp camera.db given_up.db
sqlite3 given_up.db 'UPDATE stored_preemption SET resumed = NULL WHERE rowid = (SELECT min(rowid) FROM stored_preemption)'
"$burstscope" export --to perfetto -o given_up.pftrace given_up.db
read_back given_up.pftrace
looked=$((looked + 1))
sqlite3 out.db "ATTACH 'given_up.db' AS d" ".read $here/trackevent.sql" 2>&1 | grep queue >violations || true
[[ ! -s violations ]] || wrong "given up while preempted: $(<violations)"
# ---- part of it ----
misses=$("$burstscope" sql --format csv camera.db 'SELECT count(*) FROM execution WHERE miss IS NOT NULL' | tail -1)
lanes=$("$burstscope" sql --format csv camera.db 'SELECT count(*) FROM lane_slice' | tail -1)
"$burstscope" export --to perfetto --detail lanes -o part camera.db && read_back part
has 'lanes only' "SELECT group_concat(DISTINCT cats) FROM (SELECT cats FROM event WHERE cats NOT IN ('loss', 'hole') ORDER BY cats)" lane,miss
has 'lanes' "SELECT count(*) FROM event WHERE cats = 'lane'" "$lanes"
has 'misses' "SELECT count(*) FROM event WHERE cats = 'miss' AND name = 'missed'" "$misses"
"$burstscope" export --to perfetto --detail executions -o part camera.db && read_back part
has 'executions, no waits' "SELECT count(*) FROM event WHERE cats LIKE '%wait%' OR cats = 'holder'" 0
has 'executions, no flows' 'SELECT count(*) FROM flow' 0
"$burstscope" export --to perfetto --where 'miss IS NOT NULL' -o part camera.db && read_back part
has 'picked' "SELECT count(*) FROM event WHERE cats = 'execution'" "$misses"
has 'no counters of a part' 'SELECT count(*) FROM counter' 0
"$burstscope" export --to perfetto --from 1ms --to 5ms -o part camera.db && read_back part
has 'a time, and where to' "SELECT count(*) FROM event WHERE cats = 'execution'" \
	"$("$burstscope" export --format csv --from 1ms --to 5ms camera.db | tail -n +2 | wc -l)"
"$burstscope" export --to perfetto --where 0 -o part camera.db && read_back part
has 'nothing picked' "SELECT count(*) FROM event WHERE cats NOT IN ('loss', 'hole')" 0

# ---- clocks: id, how far it is ahead of CLOCK_MONOTONIC, whether it has all times ----
clocks="SELECT group_concat(c.id || ' ' || (c.at - m.at) || ' ' || c.is_primary, ', ') FROM (SELECT * FROM clock ORDER BY id) c, clock m WHERE m.id = 3"
read_back camera.pftrace
has 'without CLOCK_BOOTTIME' "$clocks" '1 1700000000000000000 0, 3 0 1'
cp camera.db slept.db
sqlite3 slept.db 'UPDATE trace SET boottime_ns = 123456789'
"$burstscope" export --to perfetto -o slept.pftrace slept.db && read_back slept.pftrace
has 'with CLOCK_BOOTTIME' "$clocks" '1 1700000000000000000 0, 3 0 0, 6 123456789 1'
agrees slept.db 'with CLOCK_BOOTTIME'
sqlite3 slept.db "CREATE TEMP TABLE t AS SELECT * FROM trace; UPDATE t SET id = 99, uuid = 'other', clock_offset = clock_offset + 7;
	INSERT INTO trace SELECT * FROM t"
"$burstscope" export --to perfetto -o hosts.pftrace slept.db && read_back hosts.pftrace
has 'several hosts' "SELECT group_concat(id || ' ' || is_primary) FROM clock" '1 1'
has 'the time of several hosts' "SELECT min(began) > 1700000000000000000 FROM event" 1

# ---- hostile names ----
cp camera.db hostile.db
sqlite3 hostile.db "UPDATE app SET name = CASE id % 2 WHEN 1 THEN '\"},\\' || char(10, 27) || '[31m' || CAST(x'41fffe80c0af' AS TEXT) ELSE replace(hex(zeroblob(40000)), '0', 'n') END;
	UPDATE stored_model SET name = char(0x202e) || '<script>' || char(9) || id"
"$burstscope" export --to perfetto -o hostile.pftrace hostile.db && read_back hostile.pftrace
has 'a long name' "SELECT max(length(name)) >= 80000 FROM track" 1
has 'nothing that a terminal obeys' "SELECT count(*) FROM (SELECT name FROM track UNION ALL SELECT name FROM event)
	WHERE name GLOB '*[' || char(1) || '-' || char(31) || ']*' OR instr(name, char(0x202e))" 0
"$burstscope" export --to chrome -o hostile.json hostile.db
"$python" -c 'import json; json.load(open("hostile.json", encoding="utf-8"))' || wrong 'JSON with names of strangers'

# ---- an empty database, and a large one ----
cp camera.db empty.db
sqlite3 empty.db 'DELETE FROM stored_execution; DELETE FROM stored_wait; DELETE FROM stored_wait_run; DELETE FROM stored_slice; DELETE FROM stored_loss;
	DELETE FROM stored_lag; DELETE FROM stored_lag_run; DELETE FROM stored_preemption; DELETE FROM stored_deadline_miss; DELETE FROM unknown_lane; DELETE FROM id_block; DELETE FROM app;
	DELETE FROM stored_process; DELETE FROM stored_stream; DELETE FROM stored_model; DELETE FROM trace' 2>said || wrong "$(<said)"
"$burstscope" export --to perfetto -o empty.pftrace empty.db && read_back empty.pftrace || wrong 'an empty database'
has 'nothing' 'SELECT count(*) FROM event' 0
"$burstscope" export --to chrome empty.db | "$python" -c 'import json, sys; json.load(sys.stdin)' || wrong 'JSON of an empty database'

# copies TABLE EDIT: copy columns of the table, edited by "i"; i.n is a number
copies()
{
	echo "INSERT INTO $1 SELECT $(sqlite3 camera.db "SELECT group_concat(CASE name $2 ELSE 'x.' || name END) FROM pragma_table_info('$1')")
		FROM (SELECT * FROM $1 ORDER BY ${3:-id} LIMIT 1) x, i;"
}
cp camera.db many.db
{
	echo "CREATE TEMP TABLE i AS WITH RECURSIVE c(n) AS (SELECT 1000000 UNION ALL SELECT n + 1 FROM c LIMIT $apps) SELECT n FROM c;"
	copies app "WHEN 'id' THEN 'i.n' WHEN 'key' THEN 'i.n' WHEN 'name' THEN '''app '' || i.n'"
	copies stored_process "WHEN 'id' THEN 'i.n' WHEN 'pid' THEN 'i.n' WHEN 'app_id' THEN 'i.n'" 'app_id IS NULL, id'
	copies stored_stream "WHEN 'id' THEN 'i.n' WHEN 'number' THEN 'i.n' WHEN 'app_id' THEN 'i.n' WHEN 'process_id' THEN 'i.n'"
	copies stored_execution "WHEN 'id' THEN 'i.n' WHEN 'stream_id' THEN 'i.n' WHEN 'app_id' THEN 'i.n'"
} | sqlite3 many.db
"$burstscope" export --to perfetto -o many.pftrace many.db || wrong "$apps apps"
protoc --decode=burstscope.tests.Trace -I"$here" "$here/trackevent.proto" <many.pftrace >many.txt
looked=$((looked + 1))
n=$(grep -c 'process_name: "app 1' many.txt || true)
((n == apps)) || wrong "$apps apps: $n have a track"
"$burstscope" export --to chrome -o many.json many.db || wrong "$apps apps, JSON"
looked=$((looked + 1))
n=$(grep -c '"process_name".*"app 1' many.json || true)
((n == apps)) || wrong "$apps apps, JSON: $n have a track"
[[ $(grep -c '"cat":"execution"' many.json) == "$(sqlite3 many.db 'SELECT count(*) FROM execution')" ]] || wrong "$apps apps, JSON: other executions"

# ---- outputs that fail ----
status=0
"$burstscope" export --to perfetto camera.db >/dev/full 2>said || status=$?
[[ $status == 5 && $(wc -l <said) == 1 && $(<said) == *'No space left'* ]] || wrong "a full disk: $status, $(<said)"
for to in perfetto chrome; do
	status=0
	"$burstscope" export --to "$to" -o /dev/full camera.db 2>said || status=$?
	[[ $status == 5 && $(wc -l <said) == 1 && $(<said) == */dev/full*'No space left'* ]] || wrong "-o, a full disk: $status, $(<said)"
	status=$( (set +o pipefail; { "$burstscope" export --to "$to" many.db 2>said; echo "$?" >status; } | head -c 100 >/dev/null); cat status)
	[[ $status == 141 && ! -s said ]] || wrong "a closed pipe: $status, $(<said)"
	looked=$((looked + 2))
done
((looked > 25)) || wrong "only $looked looked at"
echo "$looked looked at, $failures wrong"
((failures == 0))
