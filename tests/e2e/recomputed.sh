#!/usr/bin/env bash
# recomputed.sh BURSTSCOPE SERVICE LOAD CUT_PACKETS -- the answers of burstscope about a recording follow from its
# events. The figures are computed again from babeltrace2's text, in SQL that shares nothing with the analyzer
# (tests/analyzer/recompute.sql).
#
# Several sessions record one run: both sides, the service alone, the apps alone, and some with holes that only LTTng
# makes. Other holes are cut out of the recordings. With any hole, the database has no execution, boundary, wait,
# holder, miss or preemption that the whole recording lacks, and check gives no rule a result that the whole recording
# contradicts.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
command -v sqlite3 >/dev/null || { echo 'skipped: no sqlite3'; exit 77; }
burstscope=$1 service=$2 load=$3 cut_packets=$4
here=$(cd "$(dirname "$0")" && pwd)
sql=$here/../analyzer
declare -A counts=()
taskset -pc 0,1 $$ >"$tmp/said" 2>&1 || true # with many cpus each has few packets, and a hole needs several

# recorded NAME CHANNEL_OPTIONS FILTER [CREATE_OPTION...]: begin to record the events that pass the filter into
# $tmp/NAME.
recorded()
{
	local name=$1 filter=$3
	local -a options
	read -ra options <<<"$2"
	shift 3

	quietly lttng --no-sessiond create "$name" --output="$tmp/$name" "$@"
	quietly lttng --no-sessiond enable-channel --session "$name" --userspace "${options[@]}" all
	quietly lttng --no-sessiond enable-event --session "$name" --userspace --channel all 'nnburst:*' --loglevel=DEBUG_FUNCTION ${filter:+--filter="$filter"}
	quietly lttng --no-sessiond start "$name"
}

# compute NAME: compute the figures of that recording into $tmp/NAME.truth.
compute()
{
	mkdir "$tmp/text"
	babeltrace2 --clock-cycles --no-delta "$tmp/$1" 2>/dev/null | awk -f "$here/event_rows.awk" >"$tmp/text/rows"
	(cd "$tmp/text" && sqlite3 -bail "$tmp/$1.truth" ".read '$sql/recompute.sql'") || wrong "the events of $1 are no table"
	rm -r "$tmp/text"
}

# import NAME: import that recording into $tmp/NAME.db.
import() { "$burstscope" import -q -o "$tmp/$1.db" "$tmp/$1" >"$tmp/said" 2>&1 || wrong "$1: $(<"$tmp/said")"; }

# agrees NAME TRUTH FILE: the query must find no difference between that database and the figures of that recording.
agrees()
{
	local found
	local -a left=()

	[[ $1 == "$2" ]] || left=("ATTACH 'file:$tmp/$1.truth?mode=ro' AS left")
	found=$(sqlite3 -readonly -bail "$tmp/$1.db" "ATTACH 'file:$tmp/$2.truth?mode=ro' AS truth" "${left[@]}" ".read '$sql/$3.sql'" 2>&1) || true
	[[ ! $found ]] || wrong "$1, $3: $(wc -l <<<"$found") differ from $2: $(head -5 <<<"$found")"
}

# promise TRUTH [APART]: write into $tmp/promises, a line each, a result that check must not have by the figures of
# that recording, and the rule.
promise() { sqlite3 -readonly -bail -separator $'\t' "$tmp/$1.truth" ".parameter set :apart ${2-0}" ".read '$sql/promises.sql'" >"$tmp/promises"; }

# checks NAME: check the rules of $tmp/promises; $tmp/results has a line for each.
checks()
{
	local status=0

	cut -f 2 "$tmp/promises" >"$tmp/slo"
	"$burstscope" check -q --slo "$tmp/slo" --format csv "$tmp/$1.db" >"$tmp/csv" 2>"$tmp/said" || status=$?
	((status <= 1 || status == 3)) || wrong "$1: check ends with $status: $(<"$tmp/said")"
	tail -n +2 "$tmp/csv" >"$tmp/results"
	(($(wc -l <"$tmp/results") == $(wc -l <"$tmp/promises"))) || wrong "$1: check judges $(wc -l <"$tmp/results") rules"
}

# keeps NAME [REGEX]: check must have none of the results in $tmp/promises, and must decide the rules that match the
# expression.
keeps()
{
	local never rule line result

	[[ -s $tmp/promises ]] || return 0
	checks "$1"
	while IFS=$'\t' read -r never rule && IFS= read -r line <&3; do
		result=${line#*",$rule,"}
		result=${result%%,*}
		counts[$result]=$((${counts[$result]-0} + 1))
		[[ $result != "$never" ]] || wrong "$1: $rule: $never is not so: $line"
		[[ ! ${2-} || ! $rule =~ $2 || $result != INCONCLUSIVE ]] || wrong "$1: all is known, and yet $line"
	done <"$tmp/promises" 3<"$tmp/results"
}

# opposites NAME: write into $tmp/NAME.opposites the rules that are not computed here, each with the opposite of its
# result for the whole recording.
opposites()
{
	printf '%s\t%s\n' - fairness - priority - 'priority inversion <= 1ms' - 'priority honoured >= 90 %' - 'fairness lag <= 3ms' >"$tmp/promises"
	checks "$1"
	awk -F, -v OFS='\t' '$3 == "PASS" { print "FAIL", $2 } $3 == "FAIL" { print "PASS", $2 }' "$tmp/results" >"$tmp/$1.opposites"
}

# span FILE WHOLE FROM TO: print the beginning and the end, in time, of these packets of that stream (FROM and TO in
# percent, one packet at least), and the number of events of $tmp/WHOLE in them. A stream of fewer than three packets
# gives nothing.
span()
{
	"$cut_packets" "$1" >"$tmp/packets"
	sqlite3 "$tmp/$2.truth" '.mode tabs' 'CREATE TEMP TABLE packet(cpu INTEGER, began INTEGER, ended INTEGER)' \
		".import '$tmp/packets' packet" \
		"SELECT min(p.began), max(p.ended), (SELECT count(*) FROM event e WHERE e.cpu = p.cpu AND e.ts >= min(p.began) AND e.ts < max(p.ended))
		 FROM (SELECT *, rowid - 1 AS nth, count(*) OVER () AS n FROM packet) p
		 WHERE n >= 3 AND nth >= n * $3 / 100 AND nth < max(n * $3 / 100 + 1, n * $4 / 100) HAVING count(*)"
}

# cut_out NAME FROM TO: remove from $tmp/NAME the packets of all cpus that begin within these packets of its largest
# stream, in percent.
cut_out()
{
	local file began ended

	read -r began ended _ < <(span "$(ls -S "$tmp/$1"/ust/uid/*/*/all_* | sed -n 1p)" "${1%-*}" "$2" "$3") || return 0
	for file in "$tmp/$1"/ust/uid/*/*/all_*; do "$cut_packets" "$file" "$began" "$ended" 0; done
}

# cut_each NAME FROM TO [lost]: remove these packets of each cpu from $tmp/NAME, each cpu's at a time of its own. With
# lost, the packets behind count the removed events as discarded by the tracer.
cut_each()
{
	local file began ended n

	for file in "$tmp/$1"/ust/uid/*/*/all_*; do
		read -r began ended n < <(span "$file" "${1%-*}" "$2" "$3") || continue
		[[ ${4-} ]] || n=0
		"$cut_packets" "$file" "$began" "$ended" "$n"
	done
}

# ---- one run, and the sessions that record it ----

# Executions of all kinds that wait, are preempted, pass each other, starve and miss deadlines; the same number on a
# slow machine.
scenario mixed '{"executions": 50, "apps": [
	{"name": "camera", "streams": [
		{"name": "frames", "model": "keyword", "priority": "high", "period": "10ms", "jitter": "3ms", "deadline": "4ms"},
		{"name": "saved", "model": "mobilenet-320", "priority": "low", "period": "12ms", "deadline": "20ms", "path": "fenced"}]},
	{"name": "gallery", "streams": [
		{"name": "faces", "model": "mobilenet-640", "threads": 3, "fresh_pools": 5, "start": "200ms"},
		{"name": "numbers", "model": "mlp", "priority": "low", "think": "8ms", "path": "sync"},
		{"name": "notes", "model": "mobilenet-320", "priority": "low", "deadline": "30ms", "think": "5ms", "path": "async"}]}]}'
# Calls that fail at their clients before the service has answered them: it goes on with them.
scenario hasty '{"executions": 12, "timeout": "15ms", "apps": [
	{"name": "hasty", "streams": [
		{"name": "looks", "model": "mobilenet-640", "priority": "low", "threads": 2, "deadline": "8ms", "think": "20ms", "path": "sync"}]}]}'
small='--subbuf-size=4k --num-subbuf=512'
start_sessiond
recorded both "$small" ''
recorded service "$small" '$ctx.procname == "nnburstd"'
recorded apps "$small" '$ctx.procname != "nnburstd"'
recorded stopped "$small" ''
recorded files '--subbuf-size=4k --num-subbuf=512 --tracefile-size=16k --tracefile-count=3' ''
recorded ring '--subbuf-size=4k --num-subbuf=4 --overwrite' '' --snapshot
start_service "$service" --lanes 2 --policy edf --preempt restart
"$load" --quiet --socket "$tmp/socket" "$tmp/mixed.json" >"$tmp/report" 2>&1 &
load_pid=$!
"$load" --quiet --socket "$tmp/socket" "$tmp/hasty.json" >"$tmp/hasty" 2>&1 &
hasty_pid=$!
goes_on "$service"
quietly lttng --no-sessiond stop stopped
recorded late "$small" ''
quietly lttng --no-sessiond start stopped
quietly lttng --no-sessiond snapshot record --session ring
await_end "$load_pid" 'the load ends' || wrong "the load ends with $?: $(<"$tmp/report")"
status=0
await_end "$hasty_pid" 'the load of calls that fail ends' || status=$?
((status == 1)) || wrong "the load of calls that fail ends with $status: $(<"$tmp/hasty")"
quietly "$service" --status --socket "$tmp/socket" # each connection makes the service emit its state, so that no session is empty, however late it began
stop_service
for name in both service apps stopped files ring late; do end_session "$name"; done

# ---- no hole ----

for name in both service apps; do
	compute "$name"
	import "$name"
	agrees "$name" "$name" recomputed
	agrees "$name" "$name" recomputed_whole
	[[ $name == apps ]] || agrees "$name" "$name" recomputed_lanes
	opposites "$name"
done
promise both
keeps both '^[^p]' # executions without an answer may change a percentile, so it may be unknown

# ---- holes that are cut ----

# make_holes NAME: make $tmp/WHOLE-KIND for each kind, a copy of $tmp/WHOLE with holes of that kind.
make_holes()
{
	local whole=${1%-*} from
	local -a streams=("$tmp/$whole"/ust/uid/*/*/all_*)

	[[ $1 != *-stream ]] || ((${#streams[@]} > 1)) || return
	cp -r "$tmp/$whole" "$tmp/$1"
	case $1 in
	*-gap) for from in 35 55 80; do cut_out "$1" "$from" $((from + 10)); done ;;
	*-lost) for from in 43 68 88; do cut_each "$1" "$from" $((from + 6)) lost; done ;;
	*-head) cut_each "$1" 0 40 ;;
	*-tail) cut_each "$1" 70 100 ;;
	*-stream) rm "$tmp/$1"/ust/uid/*/*/all_0 ;;
	esac
	rm -r "$tmp/$1"/ust/uid/*/*/index
}

for name in both-{gap,lost,head,tail,stream} service-{gap,lost,tail,stream} apps-{gap,lost}; do
	whole=${name%-*} hole=${name#*-}
	make_holes "$name" || continue
	compute "$name"
	import "$name"
	agrees "$name" "$whole" recomputed
	agrees "$name" "$whole" recomputed_holes
	[[ $whole == apps ]] || agrees "$name" "$whole" recomputed_lanes
	promise "$whole"
	cat "$tmp/$whole.opposites" >>"$tmp/promises"
	# Such a recording is of a part of the run. Executions outside of that part may be better or worse; a wait in it is no longer than in the run.
	[[ $hole != head && $hole != tail ]] || sed -i '/^FAIL\tstarvation/!d' "$tmp/promises"
	keeps "$name"
done

# ---- holes that LTTng makes ----

for name in stopped files ring late; do
	compute "$name"
	import "$name"
	agrees "$name" "$name" recomputed
	promise both 0.5
	[[ $name == stopped ]] || sed -i '/^FAIL\tstarvation/!d' "$tmp/promises"
	keeps "$name"
done
echo "recomputed: of ${counts[PASS]} rules check said that they are kept, of ${counts[FAIL]} that they are not, of ${counts[INCONCLUSIVE]} that it cannot tell"
exit $((failures > 0))
