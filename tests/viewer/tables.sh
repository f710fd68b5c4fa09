#!/usr/bin/env bash
# tables.sh BURSTSCOPE TRACE_FROM_TEXT BUILD_DIR -- the blocks of docs/tables.md do what the page promises: each is run
# as printed, and its result is compared with the database. A missing program is named; if all are missing, the test is
# skipped. Without duckdb, its library from npm runs the same SQL.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
burstscope=$1 trace_from_text=$2 build=$3
. "$here/../npm.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"
failures=0 ran=0

wrong()
{
	echo "tables.sh: $*"
	failures=$((failures + 1))
}

# block LANGUAGE N: print the Nth block of that language on the page.
block() { awk -v language="$1" -v n="$2" '/^```/ { on = $0 == "```" language; if (on) n--; next } on && n == 0' "$root/docs/tables.md"; }

# of_database SQL
of_database() { sqlite3 -csv bursts.db "$1"; }

# The program is installed, and is the one of that name.
is_duckdb() { [[ $(duckdb -csv -noheader -c 'SELECT 41 + 1' 2>&1) == 42 ]]; }
has_duckdb()
{
	! is_duckdb || return 0
	command -v node >/dev/null || return 1
	(fetched "$build/npm-duckdb" @duckdb/node-api@1.5.5-r.5) || return 1
	duckdb() { node "$here/duckdb.mjs" "$build/npm-duckdb" "${!#}"; }
	is_duckdb
}
has_pandas() { /usr/bin/python3 -c 'import pandas' 2>/dev/null && python=/usr/bin/python3 || { python3 -c 'import pandas' 2>/dev/null && python=python3; }; }
has_r() { Rscript -e 'stopifnot(requireNamespace("RSQLite", quietly = TRUE))' >/dev/null 2>&1; }

"$trace_from_text" -e full -o 1700000000000000000 bursts <"$here/../golden/camera.trace"
"$burstscope" import -q -o bursts.db bursts
sqlite3 bursts.db "UPDATE stored_execution SET base = base + 1 WHERE id = 3" # an odd time, which no double has

if has_duckdb; then
	ran=$((ran + 1))
	burstscope() { "${burstscope:?}" "$@"; }
	eval "$(grep '^    burstscope export' "$root/docs/tables.md")"
	duckdb -c "$(block sql 1)" || wrong 'COPY ... TO Parquet'
	duckdb -c "$(block sql 2)" || wrong 'COPY of percentiles'
	[[ $(head -c 4 executions.parquet) == PAR1 ]] || wrong 'what was written is not Parquet'
	[[ $(duckdb -csv -noheader -c "SELECT count(*), sum(submitted % 1000003), count(fenced), sum(e2e_ns) FROM 'executions.parquet'") == \
		$(of_database 'SELECT count(*), sum(submitted % 1000003), count(fenced), sum(e2e_ns) FROM execution' | tr -d '"') ]] || wrong 'Parquet and the database differ'
	[[ $(tail -n +2 p99.csv | wc -l) == $(of_database "SELECT count(*) FROM (SELECT DISTINCT app_id, model_id FROM execution WHERE quality = 'complete')") ]] ||
		wrong "percentiles: $(<p99.csv)"
else
	echo 'tables.sh: no duckdb: its blocks are skipped'
fi

paths=$(of_database 'SELECT path, max(e2e_ns) FROM execution GROUP BY path ORDER BY path' | tr ',' ' ')
if has_pandas; then
	ran=$((ran + 1))
	{
		block python 1
		echo 'print(int((executions["deadline_at"] % 1000003).sum()), (executions["submitted"] % 1000003).sum(), len(executions))'
	} >read.py
	"$python" read.py >seen 2>said || wrong "pandas: $(<said)"
	[[ $(sed -n '2,/^Name/p' seen | awk 'NF == 2 && $1 !~ /^Name/ { print $1, $2 }') == "$paths" ]] || wrong "pandas: $(<seen), not $paths"
	[[ $(tail -1 seen) == $(of_database 'SELECT sum((deadline - (SELECT min(began) FROM trace)) % 1000003), sum(submitted % 1000003), count(*) FROM execution' | tr ',' ' ') ]] || wrong "pandas loses digits: $(tail -1 seen)"
else
	echo 'tables.sh: no pandas: its block is skipped'
fi

if has_r; then
	ran=$((ran + 1))
	{
		block r 1
		echo 'cat(sprintf("%s %s\n", worst$path, format(worst$worst_ns, scientific = FALSE, trim = TRUE)), sep = "")'
		echo 'cat(format(DBI::dbGetQuery(db, "SELECT submitted FROM execution WHERE id = 3")$submitted), "\n")'
	} >worst.R
	Rscript worst.R >seen 2>said || wrong "R: $(<said)"
	n=$(wc -l <<<"$paths")
	[[ $(tail -n $((n + 1)) seen | head -n "$n") == "$paths" ]] || wrong "R: $(<seen), not $paths"
	[[ $(tail -1 seen | tr -d ' ') == "$(of_database 'SELECT submitted FROM execution WHERE id = 3')" ]] || wrong "R loses digits: $(tail -1 seen)"
else
	echo 'tables.sh: no R with RSQLite: its block is skipped'
fi

((failures == 0)) || exit 1
((ran > 0)) || exit 77
echo "tables.sh: $ran programs read what burstscope writes"
