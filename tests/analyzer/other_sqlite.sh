#!/usr/bin/env bash
# other_sqlite.sh FACTS_TO_DB BUILD_DIR -- databases whose pages store/pages.c writes are sound, and hold the same, for another version of SQLite:
# the sqlite3 shell of this machine and sql.js, from npm, answer the same questions. Trees with their root alone, of two levels and, in soak, of three.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../npm.sh"
facts_to_db=$1 build=$2
for tool in node sqlite3; do
	command -v "$tool" >/dev/null || {
		echo "skipped: there is no $tool"
		exit 77
	}
done
fetched "$build/npm-sqlite" sql.js@1.13.0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
failures=0

wrong()
{
	echo "other_sqlite.sh: $*"
	failures=$((failures + 1))
}

# question DATABASE: SQL that adds up all columns of all tables that the store fills, and uses the index of executions.
question()
{
	sqlite3 "$1" "SELECT 'SELECT ''' || t.name || ''', count(*), ' || group_concat('total(\"' || c.name || '\" % 1000003)', ', ') || ' FROM \"' || t.name || '\";'
		FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.type = 'INTEGER' GROUP BY t.name ORDER BY t.name"
	echo 'SELECT count(*), total(id) FROM stored_execution INDEXED BY stored_execution_seq WHERE seq % 7 = 3;'
}

sqlite3 :memory: 'SELECT sqlite_version()' >here
node "$here/other_sqlite.mjs" "$build/npm-sqlite" /dev/null <<<'SELECT sqlite_version();' >there
! cmp -s here there || wrong "both are SQLite $(<here)"
for n in 1 3000 ${NNB_SOAK_SECONDS:+300000}; do
	"$facts_to_db" "$n.db" "$n"
	question "$n.db" >"$n.sql"
	{
		echo ok
		sqlite3 -separator ' ' "$n.db" <"$n.sql" | sed 's/\.0\b//g'
	} >here.out
	{ echo 'PRAGMA integrity_check;'; cat "$n.sql"; } | node "$here/other_sqlite.mjs" "$build/npm-sqlite" "$n.db" >there.out
	grep -q "^stored_execution $n " here.out || wrong "$n executions: $(<here.out)"
	cmp here.out there.out || wrong "$n executions: SQLite $(<here) and $(<there) differ: $(diff here.out there.out | head)"
done
((failures == 0)) || exit 1
echo "other_sqlite.sh: SQLite $(<here) and $(<there) read the same"
