#!/usr/bin/env bash
# emptied.sh BURSTSCOPE TRACE_FROM_TEXT -- no answer crashes for a database in which a table has no rows, whichever table that is.
set -euo pipefail
golden=$(cd "$(dirname "$0")/../golden" && pwd)
burstscope=$1 trace_from_text=$2
command -v sqlite3 >/dev/null || { echo 'emptied.sh: skipped: there is no sqlite3'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"
failures=0 asked=0
answers=(doctor summary misses overhead latency fairness priority starvation preemptions slots memory 'explain worst' timeline)

wrong()
{
	echo "emptied.sh: $*"
	failures=$((failures + 1))
}

"$trace_from_text" -e full -o 1700000000000000000 unfair <"$golden/unfair.trace"
"$burstscope" import -q -o unfair.db unfair
while read -r table; do
	cp unfair.db emptied.db
	sqlite3 emptied.db "DELETE FROM \"$table\"" 2>/dev/null || continue
	for answer in "${answers[@]}"; do
		status=0
		# shellcheck disable=SC2086
		"$burstscope" $answer emptied.db >out 2>err || status=$?
		asked=$((asked + 1))
		((status < 64)) || wrong "$answer without rows in $table ends with $status: $(tail -1 err)"
		((status == 0)) || [[ -s err || -s out ]] || wrong "$answer without rows in $table ends with $status and says nothing"
	done
done < <(sqlite3 unfair.db "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
((asked > 300)) || wrong "only $asked answers"
echo "emptied.sh: $asked answers, $failures wrong"
((failures == 0))
