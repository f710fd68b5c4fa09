#!/usr/bin/env bash
# many_waits.sh BURSTSCOPE TRACE_FROM_TEXT -- an exported trace has the first 256 waits of an execution, and one slice
# for the others of a phase: its size grows with the executions, and not with their product.
set -euo pipefail
burstscope=$1 trace_from_text=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"

# Execution 1 of app 1 waits while app 2 executes RUNS times.
waiting()
{
	local i
	echo '1 service_state pid=9 lanes=1 instance=1'
	for i in 1 2; do
		echo "+1 client_connect conn=$((0x100000 + i)) pid=$i uid=$i app=$i name=app$i"
		echo "+1 model_prepare model=$((0x100000 + i)) conn=$((0x100000 + i)) name=net$i step_ns=1us"
		echo "+1 stream_open stream=$((0x100000 + i)) conn=$((0x100000 + i)) path=async model=$((0x100000 + i))"
	done
	echo "+1 sched_enqueue exec=$((0x100001)):1 model=$((0x100001)) app=1 priority=medium"
	for ((i = 1; i <= $1; i++)); do
		echo "+1 sched_enqueue exec=$((0x100002)):$i model=$((0x100002)) app=2 priority=medium"
		echo "+1 sched_dispatch exec=$((0x100002)):$i lane=0"
		echo "+2000 exec_end exec=$((0x100002)):$i lane=0 status=none"
	done
	echo "+1 sched_dispatch exec=$((0x100001)):1 lane=0"
	echo "+2000 exec_end exec=$((0x100001)):1 lane=0 status=none"
}

# drawn RUNS: print how many waits the execution has, how many are drawn one by one, and how many as one slice.
drawn()
{
	rm -rf made made.db
	waiting "$1" >made.text
	"$trace_from_text" -o 1700000000000000000 made <made.text
	"$burstscope" import -q -o made.db made
	"$burstscope" export --to chrome -q -o made.json made.db
	"$burstscope" export --to perfetto -q -o made.pftrace made.db
	python3 - "$("$burstscope" sql -q --format csv made.db "SELECT count(*) FROM wait WHERE execution_id = (SELECT execution_id FROM wait GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)" | tail -1)" <<-'EOF'
		import json, sys
		events = json.load(open("made.json"))["traceEvents"]
		waits = [e for e in events if e.get("cat") == "wait"] # those of the others are all of a phase: "phase,wait"
		more = [e["args"]["waits"] for e in waits if e["name"] == "more waits"]
		print(sys.argv[1], len(waits) - len(more), sum(more))
	EOF
}
failures=0
expect()
{
	[[ $1 == "$2" ]] && return
	echo "many_waits.sh: $3: '$1', not '$2'"
	failures=$((failures + 1))
}
few=$(drawn 100)
expect "${few#* }" "${few%% *} 0" 'all of a few waits are drawn'
many=$(drawn 1000)
total=${many%% *}
((total > 1000)) || expect "$total" 'more than 1000' 'waits'
expect "${many#* }" "256 $((total - 256))" 'the waits beyond 256 are one slice'

# listed LIMIT [OPTION...]: print whether timeline lists the waits that the relation wait has first, and how many.
listed()
{
	"$burstscope" timeline -q --format csv --part waits --limit "$@" made.db >listed.csv
	"$burstscope" sql -q --format csv made.db "SELECT execution_id, began - (SELECT min(began) FROM trace) AS began_at, ended - began AS dur_ns, kind, lane,
		occupancy, cause, blocker_id FROM wait ORDER BY began, execution_id, ended" >all.csv
	python3 - "$@" <<-'EOF'
		import csv, sys
		listed = list(csv.DictReader(line for line in open("listed.csv") if not line.startswith("#")))
		columns = "execution_id", "began_at", "dur_ns", "kind", "lane", "occupancy", "cause", "blocker_id"
		row = lambda r: tuple(r[c] for c in columns)
		since = float(sys.argv[3].rstrip("us")) * 1e3 if len(sys.argv) > 3 else 0
		wanted = [r for r in csv.DictReader(open("all.csv")) if int(r["began_at"]) + int(r["dur_ns"]) > since][:int(sys.argv[1])]
		print("the same" if list(map(row, listed)) == list(map(row, wanted)) else "others", len(listed))
	EOF
}
expect "$(listed 300)" 'the same 300' 'timeline has the first waits'
expect "$(listed 100000)" "the same $("$burstscope" sql -q --format csv made.db 'SELECT count(*) FROM wait' | tail -1)" 'timeline has all waits'
expect "$(listed 300 --from 500us)" 'the same 300' 'timeline has the first waits since a time'
exit "$failures"
