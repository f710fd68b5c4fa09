#!/usr/bin/env bash
# cpus.sh BURSTSCOPE TRACE_FROM_TEXT -- timeline draws the cpus where a kernel was recorded, each column by how much it
# ran threads, and draws no cpu elsewhere.
set -euo pipefail
golden=$(cd "$(dirname "$0")/../golden" && pwd)
burstscope=$1 trace_from_text=$2
command -v sqlite3 >/dev/null || { echo 'cpus.sh: skipped: there is no sqlite3'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"
failures=0

wrong()
{
	echo "cpus.sh: $*"
	failures=$((failures + 1))
}

"$trace_from_text" -e full -o 1700000000000000000 unfair <"$golden/unfair.trace"
"$burstscope" import -q -o unfair.db unfair
span=(--from 0ms --to 80ms --width 100) # a column is 1 ms
"$burstscope" timeline "${span[@]}" unfair.db >out
! grep -q '^cpu' out || wrong "cpus without a kernel: $(<out)"
"$burstscope" timeline --format csv --part cpus unfair.db >out || wrong "a part of cpus without a kernel: status $?"
[[ $(wc -l <out) == 1 ]] || wrong "a part of cpus without a kernel: $(<out)"

# cpu 0 is busy for 40 ms, with an interrupt in it, then idle for 20 ms, and then unknown; cpu 1 is busy every other
# half of a millisecond.
sqlite3 unfair.db "
	WITH t(o) AS (SELECT min(began) FROM trace) INSERT INTO stored_cpu_state
		SELECT 0, o, o + 40000000, 0, 77, 'worker', 800000 FROM t
		UNION ALL SELECT 0, o + 1000000, o + 2000000, 2, NULL, 'timer', NULL FROM t
		UNION ALL SELECT 0, o + 40000000, o + 60000000, 1, NULL, 'swapper/0', NULL FROM t;
	WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 159), t(o) AS (SELECT min(began) FROM trace) INSERT INTO stored_cpu_state
		SELECT 1, o + i * 500000, o + (i + 1) * 500000, i % 2, iif(i % 2, NULL, 78), '', NULL FROM n, t"
"$burstscope" timeline "${span[@]}" unfair.db >out
full=$(printf '█%.0s' {1..40}) idle=$(printf '·%.0s' {1..20}) unknown=$(printf '?%.0s' {1..20}) half=$(printf '▄%.0s' {1..80})
grep -qx "cpu 0               $full$idle$unknown" out || wrong "cpu 0: $(<out)"
grep -qx "cpu 1               $half" out || wrong "cpu 1: $(<out)"
grep -q '^(cpu: how much of the column it ran threads' out || wrong "no word about cpus: $(<out)"
"$burstscope" timeline "${span[@]}" --format csv --part cpus unfair.db >out
grep -qx '0,0,40000000,40000000,thread,77,worker,800000' out || wrong "as csv: $(head -3 out)"
grep -qx '0,1000000,2000000,1000000,irq,,timer,' out || wrong "as csv: $(head -3 out)"
((failures == 0))
