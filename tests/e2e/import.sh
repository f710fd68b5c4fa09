#!/usr/bin/env bash
# import.sh BURSTSCOPE SERVICE LOAD -- burstscope from the user's side: its usage, the import of a trace and its
# messages, and questions to the database in each format.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
for tool in sqlite3 script; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
burstscope=$1 service=$2 load=$3

# ends STATUS ARGUMENT...: run burstscope; it must end with STATUS. $out has its output, $said its standard error.
ends()
{
	local wanted=$1 status=0
	shift
	"$burstscope" "$@" >"$tmp/out" 2>"$tmp/said" || status=$?
	out=$(<"$tmp/out") said=$(<"$tmp/said")
	((status == wanted)) || wrong "burstscope $* ends with $status, not $wanted: $said"
}

says() { [[ $said == *"$1"* ]] || wrong "${BASH_LINENO[0]}: not said: $1 (but: $said)"; }
prints() { [[ $out == *"$1"* ]] || wrong "${BASH_LINENO[0]}: not printed: $1 (but: $out)"; }

# refuses WORDS ARGUMENT...: burstscope must report wrong usage in one line with WORDS.
refuses()
{
	local words=$1
	shift
	ends 2 "$@"
	says "$words"
	[[ ! $out && $said != *$'\n'* ]] || wrong "burstscope $*: not one line: $out$said"
}

# ---- usage ----

ends 0 --help
for command in import sql schema; do
	prints "  $command  "
	ends 0 "$command" --help
	prints "usage: burstscope $command"
	same=$out
	ends 0 help "$command"
	[[ $out == "$same" ]] || wrong "help $command is not $command --help"
	ends 0 --help
done
ends 0 --version
[[ $out == 'burstscope '[0-9]*.[0-9]*.[0-9]* ]] || wrong "--version: $out"
ends 2
says 'usage: burstscope COMMAND'
refuses "no command 'imprt'; did you mean 'import'?" imprt
refuses "no command 'frobnicate'; see burstscope --help" frobnicate
refuses "did you mean 'schema'?" help shema
refuses 'expected TRACE...' import
refuses "no option '--ouput'; did you mean '--output'?" import --ouput=x y
refuses "no option '-x'" import -x y
refuses '--output: DB is missing' import y -o
refuses "'many' is not a number" import --threads many y
refuses "'-1' is not a number" import --threads -1 y
refuses '--append takes no argument' import --append=yes y
refuses "no 'jsn'; did you mean 'json'?" sql --format jsn a b
refuses "no 'xml'; write table|json|csv" sql --format xml a b
refuses 'expected [INPUT] QUERY' sql
refuses "'a' is neither a query nor the name of one" sql a
refuses "unexpected operand 'c'" sql a b c

# ---- a trace ----

# net FILE N: write a model named net that adds N times.
net()
{
	local i lifetime operands='' operations=''

	for ((i = 0; i <= $2; i++)); do
		lifetime=$((i == 0 ? 0 : i == $2 ? 1 : 2))
		lifetime=$(cut -d ' ' -f $((lifetime + 1)) <<<'MODEL_INPUT MODEL_OUTPUT TEMPORARY_VARIABLE')
		operands+="{\"type\": \"TENSOR_FLOAT32\", \"dims\": [2, 3], \"lifetime\": \"$lifetime\"}, "
		((i == $2)) || operations+="${operations:+, }{\"type\": \"ADD\", \"inputs\": [$i, $(($2 + 1)), $(($2 + 2))], \"outputs\": [$((i + 1))]}"
	done
	operands+='{"type": "TENSOR_FLOAT32", "dims": [3], "lifetime": "CONSTANT_COPY", "value": [0.5, -2.5, 1]}, '
	operands+='{"type": "INT32", "dims": [], "lifetime": "CONSTANT_COPY", "value": [1]}'
	echo "{\"name\": \"net\", \"hal\": \"V1_0\", \"operands\": [$operands], \"operations\": [$operations], \"inputs\": [0], \"outputs\": [$2]}" >"$1"
}
net "$tmp/short.json" 1
net "$tmp/long.json" 2
scenario some '{"executions": 40, "apps": [
	{"name": "a", "streams": [{"name": "burst", "model": "mlp"}, {"name": "sync", "model": "mlp", "path": "sync"},
		{"name": "short", "model": "./short.json"}, {"name": "long", "model": "./long.json"},
		{"name": "short, late", "model": "./short.json", "deadline": "1ns"}, {"name": "long, late", "model": "./long.json", "deadline": "1ns"}]},
	{"name": "b", "streams": [{"name": "hopeless", "model": "keyword", "deadline": "1ns"}, {"name": "short", "model": "./short.json"}]},
	{"name": "c", "streams": [{"name": "long", "model": "./long.json"}]}]}'
start_sessiond
session one DEBUG_FUNCTION
start_service "$service"
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/some.json"
stop_service
end_session one
session two NOTICE exec_client exec_service
start_service "$service"
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/some.json"
stop_service
end_session two

ends 0 import "$tmp/one" # without an output: beside the trace
[[ ! $out ]] || wrong "import prints: $out"
says "$tmp/one.db: 1 trace, "
says $'\ntrust: no event was lost; every execution is complete'
[[ $said != *$'\r'* && $(wc -l <"$tmp/said") == 2 ]] || wrong "progress, and no terminal: $said"
(cd "$tmp/one" && "$burstscope" import -q .) || wrong 'the directory one is in cannot be imported'
mv "$tmp/one.db" "$tmp/beside.db"
ends 0 import -q "$tmp/one/"
[[ ! $said ]] || wrong "quiet, and it says: $said"
for table in execution wait miss_cause app_share; do
	cmp <(sqlite3 "$tmp/one.db" "SELECT * FROM $table") <(sqlite3 "$tmp/beside.db" "SELECT * FROM $table") ||
		wrong "two imports of one trace give different rows of $table"
done
ends 0 import -v "$tmp/one"
says 'ignored: 0 events'

script -qec "'$burstscope' import -o '$tmp/all.db' '$tmp/one' '$tmp/two'" "$tmp/null" >"$tmp/terminal" </dev/null ||
	wrong 'on a terminal it fails'
[[ $(<"$tmp/terminal") == *$'\r'*' M events'* ]] || wrong "a terminal, and no progress: $(<"$tmp/terminal")"
[[ $(<"$tmp/terminal") == *'all.db: 2 traces, '* ]] || wrong "on a terminal it says: $(<"$tmp/terminal")"
ends 0 import --append -o "$tmp/one.db" "$tmp/two"
says 'one.db: 1 trace, '
for db in all one; do
	sqlite3 "$tmp/$db.db" 'SELECT sides, path, status, count(*) FROM execution GROUP BY 1, 2, 3' >"$tmp/$db.counts"
done
cmp "$tmp/all.counts" "$tmp/one.counts" || wrong 'to append is not the same as to import both'

ends 0 import -q --keep-operations -o "$tmp/kept.db" "$tmp/one"
for table in fmq_op slot_lookup; do
	(($(sqlite3 "$tmp/kept.db" "SELECT count(*) FROM $table") >= 100)) || wrong "kept, and hardly anything in $table"
	(($(sqlite3 "$tmp/beside.db" "SELECT count(*) FROM $table") == 0)) || wrong "not kept, and it is in $table"
done

# ---- questions ----

db=$tmp/beside.db
n=360
ends 0 sql "$db" "SELECT count(*) AS n, NULL AS none, 1.5 AS x FROM execution WHERE path <> 'prepare'"
[[ $out == *$'none    x\n'*"$n"*$' 1.5\n'* ]] || wrong "a table: $out"
prints $'\ncoverage: 1 trace, '
[[ ! $said ]] || wrong "a table, and it says: $said"
ends 0 sql --format csv "$db" "SELECT 1 AS a, 'x,\"y' AS b, NULL AS c, '' AS d UNION ALL SELECT 2, 'z', 0.25, 'e'"
[[ $out == $'a,b,c,d\n1,"x,""y",,""\n2,z,0.25,e' ]] || wrong "csv: $out"
[[ ! $said ]] || wrong "csv, and it says: $said"
ends 0 sql --format=json "$db" 'SELECT id, e2e_ns, submitted, status, cold FROM execution LIMIT 2'
json() { sqlite3 :memory: "SELECT readfile('$tmp/out') ->> '$1'"; }
[[ $(json '$.command') == sql && $(json '$.input') == "$db" && $(json '$.schema_version') == 5 ]] || wrong "json: $out"
[[ $(json '$.columns[1].unit') == ns && $(json '$.columns[1].class') == duration ]] || wrong "json columns: $out"
[[ $(json '$.rows[1].status') =~ ^[A-Z_]+$ && $(json '$.rows[0].id') == 1 ]] || wrong "json rows: $out"
[[ $(json '$.coverage.lost_events') == 0 ]] || wrong "json coverage: $out"
ends 0 sql --format json "$db" 'SELECT submitted, exec FROM execution WHERE submitted IS NOT NULL ORDER BY id LIMIT 1'
[[ $out == *"{$(sqlite3 "$db" "SELECT '\"submitted\":\"' || submitted || '\",\"submitted_since_start\":' || (submitted - (SELECT min(began) FROM trace)) || ',\"exec\":\"' || exec || '\"'
	FROM execution WHERE submitted IS NOT NULL ORDER BY id LIMIT 1")}"* ]] || wrong "json times: $out"
ends 0 sql --format json "$db" "SELECT x'01ff41e282ac22' AS bytes, char(7) || '\\' AS odd"
[[ $out == *'"bytes":"\u0001\ufffdA€\""'*'"odd":"\u0007\\"'* ]] || wrong "json of what is no text: $out"
ends 0 sql "$db" "SELECT char(27) || '[31m' AS odd"
[[ $out == *'\x1b[31m'* ]] || wrong "a terminal would obey this: $out"
ends 0 sql -q "$db" 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n'
(($(wc -l <"$tmp/out") == 5001)) || wrong 'rows of a long table are missing'
[[ ! $said ]] || wrong "quiet, and it says: $said"
ends 0 sql -q "$db" 'SELECT percentile(e2e_ns, 50) > 0 AS p, duration(1250000) AS d FROM execution'
prints '1.25'

# ---- different models of one name ----

# models COMMAND...: print the models named net in that answer, with their apps.
models()
{
	"$burstscope" "$@" -q --format csv "$db" >"$tmp/csv"
	sqlite3 :memory: ".import --csv '$tmp/csv' answer" "SELECT group_concat(it, '; ') FROM (SELECT DISTINCT app || ': ' || model AS it FROM answer WHERE model LIKE 'net%' ORDER BY 1)"
}

two='a: net (1 operations, 16 bytes); a: net (2 operations, 16 bytes)'
for command in 'latency --part latency' 'overhead --part overhead' 'whatif --policy fifo --part misses'; do
	got=$(models $command)
	[[ $got == "$two; b: net; c: net" ]] || wrong "$command has these models: $got"
done
got=$(models misses --part models)
[[ $got == "$two" ]] || wrong "misses has these models: $got"
"$burstscope" summary -q --format csv --part diagnosis "$db" >"$tmp/csv"
! grep "a's net" "$tmp/csv" | grep -v "a's net (" || wrong 'summary does not say which of two models it means'
"$burstscope" report -q -o "$tmp/page.html" "$db"
for command in latency overhead misses; do
	got=$(sed -n "/data-answer=\"$command\"/,/<.script>/p" "$tmp/page.html" | grep -oE '"app":"a","model":"net[^"]*"' | LC_ALL=C sort -u | tr -d '\n')
	[[ $got == '"app":"a","model":"net (1 operations, 16 bytes)""app":"a","model":"net (2 operations, 16 bytes)"' ]] ||
		wrong "the page's $command has these models: $got"
done
for command in latency overhead; do
	# Models of two apps that their apps do not tell apart are said to be several.
	ends 0 "$command" --by model "$db"
	prints 'Apps have different models of one name, which are added up: net. --by app,model tells them apart.'
	ends 0 "$command" --by model --where "app <> 'c'" "$db"
	[[ $out != *'different models of one name'* ]] || wrong "$command: one model is said to be several"
done

ends 2 sql "$db" 'DELETE FROM app'
ends 2 sql "$db" 'SELEC 1'
ends 2 sql "$db" 'SELECT 1; SELECT 2'
ends 4 sql "$tmp/missing.db" 'SELECT 1'
says "$tmp/missing.db"
echo 'no database' >"$tmp/text"
ends 4 sql "$tmp/text" 'SELECT 1'
says "$tmp/text"
mkdir "$tmp/empty"
ends 4 sql "$tmp/empty" 'SELECT 1'
says 'this directory contains no trace'
sqlite3 "$tmp/foreign.db" 'CREATE TABLE execution(id)'
ends 4 sql "$tmp/foreign.db" 'SELECT 1'

ends 0 schema
for relation in execution wait miss_cause app_share execution_phase; do
	prints "$relation "
	ends 0 schema "$relation"
	ends 0 schema
done
ends 0 schema execution
prints 'e2e_ns '
refuses 'exection' schema exection

# Every relation of the schema can be queried.
while IFS=, read -r relation _; do
	"$burstscope" schema --format csv "$relation" | sed 1d | cut -d , -f 1 | paste -sd , >"$tmp/columns"
	ends 0 sql -q "$db" "SELECT $(<"$tmp/columns") FROM $relation LIMIT 1"
done < <("$burstscope" schema --format csv | sed 1d)

"$burstscope" sql "$db" 'SELECT * FROM execution' >/dev/full 2>"$tmp/said" && wrong 'written to a full device'
said=$(<"$tmp/said")
says 'the standard output cannot be written'

((failures == 0)) || exit 1
echo 'import.sh: all as it should be'
