#!/usr/bin/env bash
# drawn.sh BURSTSCOPE TRACE_FROM_TEXT -- explain and timeline print what the database has: of thousands of executions,
# in any span of time, at any width.
set -euo pipefail
burstscope=$1 trace_from_text=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 COLUMNS=100
unset NO_COLOR
failures=0 looked=0

wrong()
{
	echo "drawn.sh: $*"
	failures=$((failures + 1))
}

cd "$tmp"
"$trace_from_text" -e full trace <<'END'
usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us
0 service_state pid=100 policy=fair preempt_mode=save lanes=2 contract=1
0 client_connect conn=1 pid=11 uid=1001 app=1 name=red
0 client_connect conn=2 pid=12 uid=1002 app=2 name=blue
0 model_prepare model=1 conn=1 name=small priority=medium ops=10 estimate_ns=100us step_ns=10us
0 model_prepare model=2 conn=2 name=big priority=low ops=10 estimate_ns=100us step_ns=10us
0 stream_open stream=1 conn=1 path=burst model=1
0 stream_open stream=2 conn=2 path=burst model=2
# every other millisecond one app is preempted for the other, and is late
1ms 1:1 x3000 every=1ms lane=0 deadline=300us
1ms+500us 2:1 x1500 every=2ms lane=1,1 run=100us,200us off=100us by=1:1 deadline=400us
END
"$burstscope" import -q -o drawn.db trace

# the same DIFFERENT...: two files must be equal.
same()
{
	looked=$((looked + 1))
	diff "$1" "$2" >difference || wrong "$3: $(head -4 difference)"
}

ask() { "$burstscope" sql -q --format csv drawn.db "$1"; }

began=$(ask 'SELECT min(began) FROM trace' | tail -1)
blocks=$(ask 'SELECT count(*) FROM id_block' | tail -1)
((blocks > 2)) || wrong "only $blocks blocks: nothing is left out anywhere"

# ---- timeline: the stretches in its rows ----
for from in 0 1000000 700123456 1500000000 2990000000; do
	for length in 1 40000 3000000 250000000; do
		to=$((from + length)) at=$((began + from)) end=$((began + from + length))
		# rounded to the microsecond by nobody: times are given in ns
		span=(--from "${from}ns" --to "${to}ns" --limit 100000 -q --format csv)
		"$burstscope" timeline "${span[@]}" --part slices drawn.db | cut -d, -f4,8,9 >seen
		ask "SELECT execution_id, began - $began AS began_at, ended - $began AS ended_at FROM lane_slice
			WHERE began < $end AND ended > $at ORDER BY began, trace_id, instance, lane" >wanted
		same wanted seen "slices from $from for $length"
		"$burstscope" timeline "${span[@]}" --part waits drawn.db | cut -d, -f1,5,6 >seen
		ask "SELECT execution_id, began - $began AS began_at, ended - $began AS ended_at FROM wait
			WHERE began < $end AND ended > $at ORDER BY began, execution_id, ended" >wanted
		same wanted seen "waits from $from for $length"
	done
done

# ---- timeline: its counts, and its width ----
count() { sed -n "s/^$1 \([0-9]*\) .*/\1/p" out; }
for width in 40 79 100 133 200; do
	"$burstscope" timeline --from 500ms --to 1500ms --width "$width" -q drawn.db >out
	while IFS= read -r line; do
		((${#line} <= width)) || wrong "timeline --width $width: ${#line} columns: $line"
	done <out
	((width >= 79)) || continue
	looked=$((looked + 1))
	wanted=$(ask "SELECT count(*) FROM execution WHERE miss IS NOT NULL
		AND deadline + lateness_ns - $began BETWEEN 500000000 AND 1499999999" | tail -1)
	[[ $(count missed) == "$wanted" ]] || wrong "timeline has $(count missed) missed, not $wanted"
	wanted=$(ask "SELECT count(*) FROM preemption WHERE stopped - $began BETWEEN 500000000 AND 1499999999" | tail -1)
	[[ $(count preempted) == "$wanted" ]] || wrong "timeline has $(count preempted) preempted, not $wanted"
done

# ---- explain: the printed sum is the lateness ----
while IFS=, read -r id lateness; do
	"$burstscope" explain -q "$id" drawn.db >out
	looked=$((looked + 1))
	sum=$(sed -n 's/^sum *\(-\?[0-9][0-9 ]*\).*/\1/p' out | tr -d ' ')
	[[ $sum == "$lateness" ]] || wrong "explain $id: the causes sum to $sum, not $lateness"
	while IFS= read -r line; do
		((${#line} <= COLUMNS)) || wrong "explain $id: ${#line} columns: $line"
	done <out
done < <(ask 'SELECT id, lateness_ns FROM execution WHERE miss IS NOT NULL AND id % 97 = 0' | tail -n +2)

((looked > 40)) || wrong "only $looked things were looked at"
((failures == 0)) || exit 1
echo "drawn.sh: $looked answers hold"
