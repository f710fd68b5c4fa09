#!/usr/bin/env bash
# viewer_errors.sh BURSTSCOPE TRACE_FROM_TEXT -- for every wrong input of burstscope: one line on standard error with
# the reason, the documented status, and no standard output. By table: each command with each mistake.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
trace_from_text=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
failures=0 looked=0
export XDG_CACHE_HOME=$tmp/cache LC_ALL=C.UTF-8
cp "$1" "$(dirname "$1")/burstscope-importer" "$tmp/" # where every user may run it
burstscope=$tmp/burstscope
as=()

wrong()
{
	echo "viewer_errors.sh: $*"
	failures=$((failures + 1))
}

# fails STATUS WORDS ARGUMENT...
fails()
{
	local wanted=$1 words=$2 status=0 said
	shift 2
	looked=$((looked + 1))
	timeout 20 "${as[@]}" "$burstscope" "$@" >"$tmp/out" 2>"$tmp/said" </dev/null || status=$?
	said=$(<"$tmp/said")
	((status == wanted)) || wrong "burstscope $* ends with $status, not $wanted: $said"
	[[ ! -s $tmp/out ]] || wrong "burstscope $*: prints: $(head -2 "$tmp/out")"
	(($(wc -l <"$tmp/said") == 1)) || wrong "burstscope $*: not one line: $said"
	[[ $said == 'burstscope: '* && $said == *"$words"* ]] || wrong "burstscope $*: not said: $words (but: $said)"
}

# ---- wrong inputs ----

cd "$tmp"
"$trace_from_text" -e full trace <"$here/../golden/camera.trace"
"$burstscope" import -q -o good.db trace
printf '0 service_state pid=100 policy=fair preempt_mode=none lanes=1 contract=1\n' | "$trace_from_text" idle
"$burstscope" import -q -o none.db idle
cp good.db newer.db
printf '\x00\x00\x03\xe7' | dd of=newer.db bs=1 seek=60 conv=notrunc status=none # PRAGMA user_version
cp good.db older.db
printf '\x00\x00\x00\x00' | dd of=older.db bs=1 seek=60 conv=notrunc status=none
head -c 20000 good.db >cut.db
: >empty.db
echo 'no database' >text.db
cp good.db foreign.db
printf '\x00\x00\x00\x00' | dd of=foreign.db bs=1 seek=68 conv=notrunc status=none # PRAGMA application_id
ln -s loop loop
mkdir hollow hollow/deeper nothing_here unnamed
printf '\xc1\x1f\xfc\xc1rest' >unnamed/bursts_0 # a stream
mkdir -p kept/20261123-030600-042 kept/20261123-030600-041
touch kept/20261123-030600-04{1,2}/case.json
cp good.db kept/20261123-030600-042/trace.db
cp good.db kept/20261123-030600-041/trace.db
mkfifo pipe
cp good.db secret.db
chmod 000 secret.db
mkdir -p closed/ust
mkdir -m 000 sealed
chmod 000 closed/ust
cp good.db damaged.db
dd if=/dev/urandom of=damaged.db bs=4096 seek=1 count=3 conv=notrunc status=none
LC_ALL=C sed 's/\be2e_ns\b/e2e_mz/g' good.db >forged.db # a valid database that no import makes
echo 'p99 e2e <= 1s' >rules.slo

# The commands that read a recording; INPUT stands for it.
declare -A asks=(
	[summary]='INPUT' [latency]='INPUT' [overhead]='INPUT' [misses]='INPUT' [fairness]='INPUT' [priority]='INPUT'
	[starvation]='INPUT' [preemptions]='INPUT' [slots]='INPUT' [memory]='INPUT' [explain]='worst INPUT'
	[timeline]='INPUT' [whatif]='INPUT' [sql]='INPUT slowest' [export]='INPUT' [diff]='INPUT good.db' [check]='--slo rules.slo INPUT'
)

# fails_here: without an INPUT, in a directory without a recording.
fails_here()
{
	local kept=() word
	for word in "${arguments[@]}"; do
		[[ $word == INPUT ]] || kept+=("$word")
	done
	failures=0
	fails 4 'this directory contains no recording' "${kept[@]}"
	((failures == 0))
}

# with COMMAND INPUT: set $arguments to its arguments.
with()
{
	local word
	arguments=("$1")
	for word in ${asks[$1]}; do
		arguments+=("${word/#INPUT/$2}")
	done
}

for command in "${!asks[@]}"; do
	while IFS='|' read -r status input words; do
		with "$command" "$input"
		fails "$status" "$words" "${arguments[@]}"
	done <<-'END'
		4|missing.db|missing.db: No such file or directory
		4|good.db/missing|Not a directory
		4|loop|loop: Too many levels of symbolic links
		4|text.db|text.db is not a database of burstscope
		4|foreign.db|foreign.db is not a database of burstscope
		4|empty.db|empty.db
		4|newer.db|newer.db was made by a newer burstscope
		4|older.db|older.db was made by an older burstscope
		4|cut.db|the end of cut.db is missing
		4|hollow|hollow: this directory contains no trace
		4|unnamed|unnamed: the streams of a trace are here, but not its file 'metadata'
		4|/dev/null|/dev/null
		4|pipe|pipe
	END
	with "$command" good.db
	fails 2 "no option '--frmat'; did you mean '--format'?" "${arguments[@]}" --frmat json
	fails 2 "no option '--forma'; did you mean '--format'?" "${arguments[@]}" --forma json
	fails 2 "no option '-Z'" "${arguments[@]}" -Z
	fails 2 '--format: ' "${arguments[@]}" --format
	fails 2 "--format: no 'jsno'; did you mean 'json'?" "${arguments[@]}" --format jsno
	fails 2 'unexpected operand' "${arguments[@]}" good.db good.db good.db
	with "$command" INPUT
	[[ $command == @(diff|check) ]] || (cd nothing_here && fails_here) || failures=$((failures + 1))
done

# Options that choose executions, and parts.
for command in "${!asks[@]}"; do
	with "$command" good.db
	if "$burstscope" "$command" --help | grep -q -- '--from TIME'; then
		fails 2 '--from 2.000 s is not before --to 1.000 s' "${arguments[@]}" --from 2s --to 1s
		fails 2 'is after the end of the recording' "${arguments[@]}" --from 5h
		fails 2 '--to 0' "${arguments[@]}" --to 0s
		fails 2 "--from: '5 parsecs' is not a time" "${arguments[@]}" --from '5 parsecs'
		fails 2 "--to: '-1s' is not a time" "${arguments[@]}" --to=-1s
	fi
	if "$burstscope" "$command" --help | grep -q -- '--where EXPR'; then
		while IFS='|' read -r where words; do
			fails 2 "$words" "${arguments[@]}" --where "$where"
		done <<-'END'
			e2ens > 1|executions have no 'e2ens'; did you mean 'e2e_ns'?
			xyzzyplugh|executions have no 'xyzzyplugh'
			1) OR (1|--where is not a condition
			1) UNION SELECT * FROM (SELECT 1|--where is not a condition
			1; SELECT 1|--where is not a condition
			1 --|--where is not a condition
			1 /*|--where is not a condition
			app = 'x|--where is not a condition
			count(*) > 1|--where is not a condition
			app = $camera|$camera has no value
			e2e_ns > ?|? has no value
			|--where is empty; write a condition
		END
	fi
	if "$burstscope" "$command" --help | grep -q -- '--part NAME'; then
		fails 2 "--part: no 'xyzzy'" "${arguments[@]}" --part xyzzy
	fi
done

# What can be judged without the recording is judged before one is looked for, which may take an import.
for command in "${!asks[@]}"; do
	with "$command" missing.db
	if "$burstscope" "$command" --help | grep -q -- '--part NAME'; then
		fails 2 "--part: no 'xyzzy'" "${arguments[@]}" --part xyzzy
	fi
	if "$burstscope" "$command" --help | grep -q -- '--from TIME'; then
		fails 2 '--from 2.000 s is not before --to 1.000 s' "${arguments[@]}" --from 2s --to 1s
		fails 2 '--to 0: nothing begins before the recording' "${arguments[@]}" --to 0s
	fi
	if "$burstscope" "$command" --help | grep -q -- '--where EXPR'; then
		fails 2 '--where is empty; write a condition' "${arguments[@]}" --where ' '
	fi
done

# Commands that need executions.
for command in latency overhead misses; do
	with "$command" none.db
	fails 4 'contains no executions' "${arguments[@]}"
done

# Mistakes of each command's own; and no command at all.
while IFS='|' read -r status words arguments; do
	eval "arguments=($arguments)"
	fails "$status" "$words" "${arguments[@]}"
done <<'END'
2|no command 'sumary'; did you mean 'summary'?|sumary
2|no command 'nope'; see burstscope --help|help nope
2|no command 'preempt'; did you mean 'preemptions'?|preempt
2|no command 'frobnicate'; see burstscope --help|frobnicate
2|did you mean 'burstscope summary good.db'?|good.db
2|no command '\x1b[31m|$'\e[31m'
2|expected [INPUT] QUERY|sql
2|good.db is a file; add a query|sql good.db
2|good.db is a file; the query comes last, behind it|sql 'SELECT 1' good.db
2|no option '--port'; did you mean '--listen'?|exporter --port 9464
2|no option '--app'; write --where "app = 'NAME'"|misses --app camera good.db
2|no option '--model'; write --where "model = 'NAME'"|latency --model=mlp good.db
2|no query 'slowst'; did you mean 'slowest'?|sql slowst
2|no query 'memory_pool'; did you mean 'memory_pools_stored'?|sql memory_pool
2|no such column: nothing_like_it|sql good.db 'SELECT nothing_like_it FROM execution'
2|no relation 'nothing_like_it'; burstscope schema shows them|sql good.db 'SELECT 1 FROM nothing_like_it'
2|no relation 'exection'; did you mean 'execution'?|sql good.db 'SELECT 1 FROM exection'
2|a query may only read this database|sql good.db 'DELETE FROM app'
2|more than one statement|sql good.db 'SELECT 1; SELECT 2'
2|$name has no value|sql good.db 'SELECT * FROM app WHERE name = $name'
4|the tables and views of forged.db are not those of an import|explain worst forged.db
4|the tables and views of forged.db are not those of an import|sql forged.db slowest
4|the tables and views of forged.db are not those of an import|check --slo rules.slo forged.db
4|the tables and views of forged.db are not those of an import|sql forged.db 'SELECT e2e_ns FROM execution'
2|integer overflow|latency --where 'abs(id - id - 9223372036854775807 - 1) > 1' good.db
2|--limit: '0' is not a number from 1 to|misses --limit 0 good.db
2|integer overflow|sql --format json good.db 'SELECT abs(-9223372036854775807 - 1)'
2|--where, --from and --to need a query with a name|sql --from 1ms good.db 'SELECT 1'
2|no relation 'exection'; did you mean 'execution'?|schema exection
4|missing.db|schema missing.db
4|text.db is not a database of burstscope|schema text.db execution
4|text.db is not a database of burstscope|schema execution text.db
2|unexpected operand|schema a b c
2|no relation 'wiat'; did you mean 'wait'?|export --relation wiat good.db
2|have no execution_id|export --relation app --from 1ms good.db
2|--format: no 'perfetto'; write json|export --format perfetto good.db
2|would overwrite the input|export -o ./good.db good.db
5|nowhere/x cannot be written|export -o nowhere/x good.db
2|--to: no 'perfeto'; did you mean 'perfetto'?|export --to perfeto good.db
2|--to: '5x' is not a time; write 1.5s|export --to 5x good.db
2|is not before --to 1.000 ms|export --to perfetto --to 1ms --from 2ms -o x good.db
2|--detail needs a trace: add --to perfetto|export --detail lanes good.db
2|--compress needs a trace: add --to perfetto|export --compress good.db
2|--detail needs a trace: add --to perfetto|export --to openmetrics --detail lanes good.db
2|--limit applies to rows only; leave it out with --to openmetrics|export --to openmetrics --limit 5 good.db
2|--slo needs metrics or rules|export --slo rules.slo good.db
2|--slo needs metrics or rules|export --to grafana --slo rules.slo
2|--scale needs rules: add --to rules|export --to openmetrics --scale 60 good.db
2|--to rules needs --slo FILE|export --to rules
2|--to rules needs no recording: leave out the input|export --to rules --slo rules.slo good.db
2|--to grafana needs no recording: leave out --where|export --to grafana --where 1
4|missing.slo|export --to rules --slo missing.slo
4|missing.db|export --to openmetrics missing.db
5|/dev/full cannot be written|export --to openmetrics -o /dev/full good.db
2|--compress needs --to perfetto|export --to chrome --compress good.db
2|--relation applies to rows only; leave it out with --to perfetto|export --to perfetto --relation wait good.db
2|--limit applies to rows only; leave it out with --to chrome|export --to chrome --limit 5 good.db
2|would overwrite the input|export --to perfetto -o ./good.db good.db
5|nowhere/x cannot be written|export --to perfetto -o nowhere/x good.db
5|/dev/full cannot be written: No space left on device|export --to perfetto -o /dev/full good.db
4|missing.db|export --to perfetto -o x missing.db
5|/dev/full cannot be written|export -o /dev/full good.db
2|expected EXEC [INPUT]|explain
2|'good.db' is not an execution|explain good.db
2|--part: no 'worts'; did you mean 'worst'?|misses --part worts missing.db
2|--part: no 'xyzzy'; there are pairs, models|preemptions --part xyzzy missing.db
2|--part doers covers whole recordings only: leave out --where|misses --from 1s --part doers missing.db
2|--by: no 'xyzzy'; there are app, model, priority, path and burst|latency --by xyzzy missing.db
2|--by: no 'apps'; did you mean 'app'?|overhead --by model,apps missing.db
2|--around 'here' is neither an execution|timeline --around here missing.db
2|--around sets the time: leave out --from and --to|timeline --around worst --from 1s missing.db
2|--span needs --around|timeline --span 1s missing.db
2|'wrost' is not an execution; did you mean 'worst'?|explain wrost good.db
2|unrecognized token: "'camera"|misses --where "app='camera" good.db
2|--part doers covers whole recordings only: leave out --where|misses --where "app='camera'" --part doers good.db
2|'99999999999999999999' is not an execution|explain 99999999999999999999 good.db
2|there is no execution 99999 in good.db|explain good.db 99999
2|there is no execution 0x1/99999 in good.db|explain 0x1/99999 good.db
2|there is no execution 77/1 in good.db|explain 77/1 good.db
2|no execution missed its deadline in good.db, among the picked executions|explain worst --where "miss IS NULL" good.db
4|contains no executions|explain worst none.db
4|contains no executions|timeline none.db
4|contains no executions|summary --verdict none.db
4|contains no executions|fairness --verdict none.db
2|neither an execution|timeline --around nowhere good.db
2|there is no execution 99999 in good.db|timeline --around 99999 good.db
2|--around 1h is after the end of the recording|timeline --around 1h good.db
2|--around '1 parsec' is neither|timeline --around '1 parsec' good.db
2|--around 9s is after the end of the recording|timeline --around 9s good.db
2|--around sets the time|timeline --around 10ms --from 1ms good.db
2|--span needs --around|timeline --span 10ms good.db
2|--span: 0 is out of range|timeline --around 10ms --span 0s good.db
2|--width: '100000' is not a number from 0 to 1000|timeline --width 100000 good.db
2|--by: no 'modle'; did you mean 'model'?|timeline --by modle good.db
2|--search and --advise exclude each other|whatif --search --advise good.db
2|--lanes-up-to needs --search or --advise|whatif --lanes-up-to 2 good.db
2|--lanes-up-to: '65' is not a number from 1 to 64|whatif --search --lanes-up-to 65 good.db
2|--search tries policies, preemption, deadline modes and lanes itself|whatif --search --policy edf good.db
2|--advise tries single changes|whatif --advise --step 1ms good.db
2|--without: '' is not valid; write APP or APP/MODEL|whatif --without '' good.db
2|--rate camera=2000x: '2000x' is not valid; write a factor from 0.001x to 1000x|whatif --rate camera=2000x missing.db
2|--priority: 'camera' is not valid; write APP=VALUE or APP/MODEL=VALUE|whatif --priority camera missing.db
2|--rate: '' is not valid; write APP=VALUE or APP/MODEL=VALUE|whatif --rate '' good.db
2|--phase: no 'bogus'; there are e2e, overhead,|latency --phase bogus good.db
2|--without: there is no 'nobody' in the recording|whatif --search --without nobody good.db
2|--without: there is no 'somebody' in the recording|whatif --without somebody --without nobody good.db
2|'2000x' is not valid; write a factor from 0.001x to 1000x|whatif --rate camera=2000x good.db
2|--without: there is no 'camra' in the recording; did you mean 'camera'?|whatif --without camra good.db
2|is longer than the runs of camera/|whatif --speed camera=-100s good.db
2|expected TRACE...|import
2|no such user|import --service-user no-such-user-here trace
4|there is no directory burstscope-cases; burstscope watch makes it|cases
4|there is no directory missing; burstscope watch makes it|cases --by day missing
4|--open: there is no case in nothing_here yet|cases --open last nothing_here
2|kept/20261123-030600-042 is one case|cases kept/20261123-030600-042
2|kept is a directory of cases; name one of them, as kept/20261123-030600-042|summary kept
2|--compare good.db: the page would be about that recording, too|report --compare good.db -o page.html good.db
2|--report needs the database: leave out --no-import|record --report --no-import -o new
2|--report takes no file, as x.html: the page of -o DIR is DIR.html|record --report x.html -- true
2|--for: 0 is out of range|watch --on miss --for 0s
2|--for: 0 is out of range|top --for 0s
4|missing|import missing
4|hollow|import hollow
END

# As a user without rights, because root may do everything.
if ((EUID == 0)) && command -v setpriv >/dev/null; then
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
if ((EUID != 0 || ${#as[@]})); then
	fails 4 'secret.db: Permission denied' summary secret.db
	fails 4 'closed: Permission denied' summary closed
	fails 4 'closed/ust cannot be read: Permission denied' import -o "$tmp/out.db" closed
	fails 4 'secret.db: Permission denied' diff good.db secret.db
	fails 4 'secret.db: Permission denied' schema secret.db
	fails 4 'sealed: Permission denied' cases sealed
	fails 4 'secret.db: Permission denied' check --slo secret.db good.db
	fails 5 'cannot be written: Permission denied' export -o "$tmp/out.csv" good.db
fi
as=()

# A damaged database gives an answer or an error; the program never ends in another way.
for command in "${!asks[@]}"; do
	with "$command" damaged.db
	status=0
	"$burstscope" "${arguments[@]}" >out 2>said </dev/null || status=$?
	((status <= 5)) || wrong "burstscope ${arguments[*]} ends with $status"
done

# Names that a terminal, SQL, JSON or CSV would obey; and the same in a locale without UTF-8.
hostile=$'\e[2J\e]0;x\a\xc2\x9b31m\xe2\x80\xae\x27"--,;|%s%n@with@\xff\\'
hostile=${hostile//$'\xff'/} # the database has no bytes that are not UTF-8, either
"$trace_from_text" -e full evil < <(while IFS= read -r line; do
	line=${line//name=camera/name="$hostile"}
	printf '%s\n' "${line//name=faces/name=$'\e[31m'"'"}"
done <"$here/../golden/camera.trace")
"$burstscope" import -q -o evil.db evil
"$burstscope" sql --format csv evil.db 'SELECT name FROM app' | grep -q $'\e' || wrong 'the hostile name is not there'
for command in "${!asks[@]}"; do
	for format in table json; do
		for locale in C.UTF-8 C; do
			with "$command" evil.db
			arguments=("${arguments[@]/good.db/evil.db}")
			[[ $command != export || $format == json ]] || continue
			status=0
			LC_ALL=$locale "$burstscope" "${arguments[@]}" --format $format >out 2>said </dev/null || status=$?
			((status <= 3)) || wrong "burstscope ${arguments[*]} --format $format ends with $status: $(<said)"
			! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' out said ||
				wrong "burstscope ${arguments[*]} --format $format: what a terminal would obey: $(cat -v out said | grep -m 1 '\^\[\|M-BM-\|M-bM-\^@M-\.')"
			[[ $locale != C || $format != table ]] || ! LC_ALL=C grep -qP '[\x80-\xff]' out ||
				wrong "burstscope ${arguments[*]}: not ASCII, in a locale that has no more: $(LC_ALL=C grep -m 1 -P '[\x80-\xff]' out | cat -v)"
		done
	done
done

# fails_on_full ARGUMENT...: export fails on a full disk.
fails_on_full()
{
	local status=0
	"$burstscope" export "$@" 2>said || status=$?
	((status == 5)) && [[ $(wc -l <said) == 1 && $(<said) == *'cannot be written'* ]] || wrong "export $*, a full disk: $status, $(<said)"
}

# The output cannot be written, or its reader has ended.
for command in sql schema export help --help --version; do
	arguments=("$command")
	[[ -z ${asks[$command]:-} ]] || with "$command" good.db
	status=0
	"$burstscope" "${arguments[@]}" >/dev/full 2>said || status=$?
	((status == 5)) && grep -q 'the standard output cannot be written' said || wrong "$command >/dev/full: $status, $(<said)"
done
mkfifo unread
exec 3<>unread 4>unread 3<&- # 4: a pipe without a reader
while read -r -a form; do
	for input in good.db none.db; do # none.db: no executions
		arguments=("${form[@]}")
		[[ ${form[1]} == @(rules|grafana) ]] || arguments+=("$input")
		looked=$((looked + 1))
		"$burstscope" export "${arguments[@]}" >out 2>said || wrong "export ${arguments[*]}: $? $(<said)"
		[[ -s out && ! -s said ]] || wrong "export ${arguments[*]}: $(wc -c <out) bytes, $(<said)"
		fails_on_full "${arguments[@]}" >/dev/full
		fails_on_full "${arguments[@]}" -o /dev/full
		status=0
		"$burstscope" export "${arguments[@]}" >&4 2>said || status=$?
		((status == 141)) && [[ ! -s said ]] || wrong "export ${arguments[*]}, no reader: $status, $(<said)"
	done
done <<'END'
--format csv
--format json
--to perfetto
--to perfetto --compress
--to perfetto --detail lanes
--to chrome
--to openmetrics
--to prometheus
--to rules --slo rules.slo
--to grafana
END
exec 4>&-
for format in table csv json; do
	"$burstscope" sql --format $format good.db \
		'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n' 2>said | head -1 >out
	status=${PIPESTATUS[0]}
	((status == 141)) && [[ ! -s said ]] || wrong "--format $format | head: $status, $(<said)"
done

((failures == 0)) || exit 1
echo "viewer_errors.sh: $looked mistakes, each said in one line"
