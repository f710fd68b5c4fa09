#!/usr/bin/env bash
# agree.sh BURSTSCOPE TRACE_FROM_TEXT SLO_COUNTS -- what the audits say agrees with questions of another kind about the same recordings, and so does what they
# read from what is stored with what they count themselves.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
burstscope=$1 trace_from_text=$2 slo_counts=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0 looked=0
export LC_ALL=C.UTF-8 TZ=UTC
unset BURSTSCOPE_PAGER PAGER XDG_CACHE_HOME

wrong()
{
	echo "agree.sh: $*"
	failures=$((failures + 1))
}

sql() { "$burstscope" sql -q --format csv "$1" "$2"; }

# same DB QUERY COMMAND...: the query, in which @ is the first query behind what the command shows, and the rest of it, after "= ", answer the same.
# Both are asked in one statement.
same()
{
	local db=$1 query=$2 shown answer line left='' right=''
	shift 2
	shown=$("$burstscope" "$@" --show-sql "$db")
	shown=${shown%;}
	answer=$(sql "$db" "SELECT 'left', * FROM (${query%% = *}${shown:+ FROM ($shown)}) UNION ALL SELECT 'right', * FROM (${query#* = })")
	while IFS= read -r line; do
		case $line in
		left,*) left+="${line#left,} " ;;
		right,*) right+="${line#right,} " ;;
		esac
	done <<<"$answer"
	looked=$((looked + 1))
	[[ $right ]] || wrong "$db: no answer to ${query#* = }"
	[[ $left == "$right" ]] || wrong "$db: burstscope $*: ${query%% = *} is $left, and ${query#* = } is $right"
}

# agrees QUERY COMMAND... --part NAME: the same, to be asked by all_agree. The first query has one row.
agreements=() commands=()
agrees()
{
	agreements+=("$1") commands+=("${*:2}")
}

# queries_of DB COMMAND...: the queries behind all parts of what the command shows, as queries["COMMAND... --part NAME"].
declare -A queries=()
queries_of()
{
	local part
	local -a parts
	"$burstscope" "${@:2}" --show-sql "$1" | sed 's/^-- part /\x00&/' >shown
	mapfile -d '' -t parts <shown
	for part in "${parts[@]:1}"; do
		[[ $part =~ ^'-- part '([a-z_]+) ]]
		queries[${*:2} --part ${BASH_REMATCH[1]}]=${part%;*}
	done
}

# all_agree DB: what agrees was given. All is asked in one statement.
all_agree()
{
	local db=$1 statement='' answer before i right
	for i in "${!agreements[@]}"; do
		right=${agreements[i]#* = }
		[[ ${queries[${commands[i]}]-} ]] || { wrong "$db: burstscope ${commands[i]} shows no query"; continue; }
		statement+=${statement:+ UNION ALL }
		statement+="SELECT $i, EXISTS ($right) AND (${agreements[i]%% = *} FROM (${queries[${commands[i]}]})) IS ($right)"
	done
	answer=$(sql "$db" "$statement")
	for i in "${!agreements[@]}"; do
		if [[ $answer$'\n' == *$'\n'"$i,1"$'\n'* ]]; then
			looked=$((looked + 1))
			continue
		fi
		before=$failures
		# shellcheck disable=SC2086 # words
		same "$db" "${agreements[i]}" ${commands[i]}
		((failures > before)) || wrong "$db: burstscope ${commands[i]}: ${agreements[i]} holds only if it is asked alone"
	done
	agreements=() commands=() queries=()
}

# all_but_so DB OPTION VALUE COMMAND...: the same, read from what is stored and counted from what the option picks, which is all.
all_but_so()
{
	local db=$1 option=$2 value=$3
	shift 3
	"$burstscope" "$@" -q --format csv "$db" >left
	"$burstscope" "$@" -q --format csv "$option" "$value" "$db" >right
	looked=$((looked + 1))
	cmp -s left right || wrong "$db: burstscope $*: is not the same with $option $value"
}

# counted DB COMMAND...: the same, read from what is stored and counted from executions.
counted() { all_but_so "$1" --where 'id > 0' "${@:2}"; }

# grouped DB CONDITION: the same, read from what is stored of groups and counted from executions.
grouped()
{
	local db=$1 group=$2 command
	for command in latency overhead; do # all parts at once
		"$burstscope" $command -q --format json --where "$group" "$db" >left
		"$burstscope" $command -q --format json --where "($group) AND id > 0" "$db" >right
		looked=$((looked + 1))
		cmp -s left right || wrong "$db: burstscope $command --where $group: is not the same as counted: $(diff left right | head -4)"
	done
}

# begun DB CONDITION CONDITION: the same, whichever of the two conditions is the first. One on apps that is first is asked of apps.
begun()
{
	local db=$1 apps=$2 others=$3
	"$burstscope" misses -q --format json --part totals --where "$apps AND $others" "$db" >left
	"$burstscope" misses -q --format json --part totals --where "$others AND $apps" "$db" >right
	looked=$((looked + 1))
	cmp -s left right || wrong "$db: burstscope misses --where $apps AND $others: is not the same the other way around: $(diff left right | head -4)"
}

cd "$tmp"
for trace in "$here"/*.trace; do
	name=$(basename "$trace" .trace)
	"$trace_from_text" -e full -h golden -s "$name" -u "00000000-0000-4000-8000-$(printf '%012d' "${#name}")" \
		-o 1700000000000000000 "$name" <"$trace"
	"$burstscope" import -q -o "$name.db" "$name"
done

for db in *.db; do
	for where in '' 'id > 0'; do # all parts that are shown of picked executions, too
		"$burstscope" misses -q --format json ${where:+--where "$where"} "$db" | awk '{ sub(/^"parts":\[/, ""); sub(/[],}]*$/, "") }
			/^("notes"|\{"name"):/ { left_out = /^("notes"|\{"name":"(doers|without|preparations)")/ } !left_out' >"misses${where:+ counted}"
	done
	looked=$((looked + 1))
	for part in models culprits undecided worst ledgers totals; do
		looked=$((looked + 1))
		grep -q "^{\"name\":\"$part\"" misses || wrong "$db: burstscope misses shows no $part"
	done
	cmp -s misses 'misses counted' || wrong "$db: burstscope misses: is not the same counted: $(diff misses 'misses counted' | head -4)"
	counted "$db" misses --by app
	counted "$db" starvation --part episodes
	counted "$db" priority --part inversions
	counted "$db" priority --part choices
	# A condition on what groups have in common is answered from what is stored of them; one on single executions is not.
	for group in "app = (SELECT min(name) FROM apps)" "app IS NOT (SELECT max(name) FROM apps)" "model = (SELECT max(name) FROM models)" \
		"path = 'burst'" "path <> 'burst' AND priority = 'medium'" "app_id IN (SELECT app_id FROM phase_stat WHERE n > 30)" 0; do
		grouped "$db" "$group"
	done
	for part in pools peak; do
		all_but_so "$db" --from 0ns memory --part "$part"
	done

	misses="FROM execution WHERE miss IS NOT NULL"
	agrees "SELECT n_missed, n_late, n_aborted, n_predicted, n_persistent, n_deadlines, n_executions = SELECT count(*),
		count(*) FILTER (WHERE miss = 'late'), count(*) FILTER (WHERE miss = 'aborted'), count(*) FILTER (WHERE miss = 'predicted'),
		count(*) FILTER (WHERE status = 'MISSED_DEADLINE_PERSISTENT'), (SELECT count(deadline) FROM execution),
		(SELECT count(*) FROM execution) $misses" misses --part totals
	agrees "SELECT coalesce(sum(n_misses), 0) = SELECT count(*) $misses" misses --part causes
	agrees "SELECT coalesce(sum(n_saved), 0), coalesce(sum(n_unsure), 0) = SELECT count(*) FILTER (WHERE saved), count(*) FILTER (WHERE NOT saved AND unsure)
		FROM (SELECT iif(w.execution_id IS NULL, max(c.saved) IS 1, w.met IS 1) AS saved, max(c.is_primary) AND c.cause NOT IN ('too_big', 'too_tight', 'submitted_late') AND iif(w.execution_id IS NULL, count(c.saved) < count(*), w.met IS NULL) AS unsure
		FROM miss_cause c LEFT JOIN miss_without w ON w.execution_id = c.execution_id AND w.cause = c.cause
		GROUP BY c.execution_id, c.cause HAVING ifnull(sum(c.late_ns), 1) > 0)" \
		misses --part causes
	agrees "SELECT coalesce(sum(n_misses), 0) = SELECT count(*) FROM (SELECT max(c.is_primary) AND c.cause NOT IN ('too_big', 'too_tight', 'submitted_late')
			AND iif(w.execution_id IS NULL, max(c.saved) IS NOT 1 AND count(c.saved) < count(*), w.met IS NULL) AS unsure
		FROM miss_cause c LEFT JOIN miss_without w ON w.execution_id = c.execution_id AND w.cause = c.cause GROUP BY c.execution_id, c.cause) WHERE unsure" \
		misses --part undecided
	agrees "SELECT count(*) FILTER (WHERE saved) = SELECT count(*) FROM (SELECT c.saved FROM miss_cause c JOIN execution x ON x.id = c.execution_id
		WHERE c.is_primary AND x.lateness_ns IS NOT NULL) WHERE saved" \
		misses --part worst
	agrees "SELECT coalesce(sum(n_missed), 0), coalesce(sum(n_deadlines), 0) = SELECT count(*), (SELECT count(deadline) FROM execution) $misses" \
		misses --part models
	agrees "SELECT coalesce(sum(n_missed), 0), coalesce(sum(n_deadlines), 0) = SELECT count(*), (SELECT count(deadline) FROM execution) $misses" \
		misses --by app --part apps
	agrees "SELECT sum(late_ns) = SELECT sum(lateness_ns) $misses" misses --part ledgers
	agrees "SELECT max(lateness_ns), min(lateness_ns), count(*) = SELECT max(lateness_ns), min(lateness_ns), count(lateness_ns) $misses" misses --part worst
	agrees "SELECT sum(received_ns), max(max_lag_ns) = SELECT sum(received_ns), (SELECT max(max_lag_ns) FROM app_share)
		FROM app_lag" fairness --part apps
	agrees "SELECT coalesce(sum(waited_ns), 0) = SELECT coalesce(sum(w.ended - w.began), 0) FROM wait w
		JOIN execution x ON x.id = w.execution_id WHERE w.blocker_app_id IS NOT NULL AND x.app_id IS NOT NULL" fairness --part interference
	agrees "SELECT count(*), coalesce(sum(lag_ns), 0) = SELECT count(*), coalesce(sum(lag_ns), 0) FROM app_lag" fairness --part windows
	agrees "SELECT coalesce(sum(n_inversions), 0), coalesce(sum(held_ns), 0), max(max_ns) = SELECT count(*), coalesce(sum(dur_ns), 0), max(dur_ns)
		FROM inversion" priority --part inversions
	verdict=$("$burstscope" priority -q --format json "$db" | grep -o '"name":"inversion_ns","figure":[0-9]*' | head -1 | grep -o '[0-9]*$' || true)
	[[ -z $verdict || $verdict == 0 ]] || agrees "SELECT max(worst_ns IN ($verdict)) = SELECT 1" \
		priority --part inversions
	agrees "SELECT coalesce(sum(n_choices), 0) = SELECT count(*) FROM priority_choice" priority --part choices
	agrees "SELECT count(*), coalesce(sum(gap_ns), 0), coalesce(sum(n_bypassed), 0), coalesce(sum(culprit_ns), 0) = SELECT count(*),
		coalesce(sum(gap_ns), 0), coalesce(sum(bypassed), 0), coalesce(sum(top_culprit_ns), 0) FROM starvation" starvation --part episodes
	agrees "SELECT coalesce(sum(n_episodes), 0), coalesce(sum(starved_ns), 0) = SELECT count(*), coalesce(sum(gap_ns), 0) FROM starvation" \
		starvation --part victims
	agrees "SELECT coalesce(sum(n_times), 0), coalesce(sum(redo_ns), 0) = SELECT (SELECT count(*) FROM preemption),
		coalesce(sum(redo_ns), 0) FROM execution WHERE preemptions > 0" preemptions --part pairs
	agrees "SELECT coalesce(sum(n_executions), 0), coalesce(sum(preempted_ns), 0) = SELECT count(*), coalesce(sum(preempted_ns), 0)
		FROM execution WHERE preemptions > 0" preemptions --part models
	agrees "SELECT sum(n_executions), sum(n_lookups), sum(n_misses), sum(n_cold) = SELECT count(*), sum(slot_lookups), sum(slot_misses), sum(cold)
		FROM execution WHERE path = 'burst'" slots --part models
	agrees "SELECT coalesce(sum(n_misses), 0), coalesce(sum(map_ns), 0) = SELECT count(*), coalesce(sum(map_ns), 0) FROM slot_miss" slots --part cost
	agrees "SELECT sum(n_executions), sum(n_bursts) = SELECT sum(executions), count(*) FROM burst WHERE executions > 0" slots --part bursts
	agrees "SELECT coalesce(sum(n_pools), 0), coalesce(sum(bytes), 0) = SELECT count(*), coalesce(sum(bytes), 0) FROM pool_mapping" memory --part pools
	agrees "SELECT coalesce(sum(n_buffers), 0), coalesce(sum(n_copied_to + n_copied_from + n_rejected), 0) = SELECT count(*),
		(SELECT count(*) FROM buffer_use) FROM buffer" memory --part buffers
	agrees "SELECT coalesce(sum(n_rejected), 0) = SELECT count(*) FROM buffer_use WHERE op = 'reject'" memory --part rejects
	agrees "SELECT coalesce(sum(n_times), 0) = SELECT count(*) FROM resource_exhausted" memory --part exhausted
	for command in misses 'misses --by app' fairness priority starvation preemptions slots memory; do
		# shellcheck disable=SC2086 # words
		queries_of "$db" $command
	done
	all_agree "$db"
done

# The threshold of the import is 100 ms where ten times a median run is less: then the waits come to the same episodes.
for db in unfair.db camera.db; do
	"$burstscope" starvation -q --format csv --part episodes "$db" >left
	"$burstscope" starvation -q --format csv --part episodes --threshold 100ms "$db" >right
	looked=$((looked + 1))
	cmp -s left right || wrong "$db: starvation is not the same with --threshold 100ms: $(diff left right | head -5)"
done
[[ $(sql unfair.db 'SELECT count(*) > 0 AS any FROM starvation' | tail -1) == 1 ]] || wrong 'no episode was looked at'

# ---- a model whose name is a number ----

"$trace_from_text" -e full -h golden -s number -u 00000000-0000-4000-8000-000000000005 number <<'END'
usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us
0 service_state pid=100 lanes=1
0 client_connect conn=1 pid=11 uid=1001 app=1 name=6
0 model_prepare model=1 conn=1 name=5 priority=medium
0 model_prepare model=2 conn=1 name=net priority=medium
0 stream_open stream=1 conn=1 path=burst model=1
0 stream_open stream=2 conn=1 path=burst model=2
1ms 1:1 x2 every=2ms
2ms 2:1
END
"$burstscope" import -q -o number.db number
for group in 'model = 5' "model = '5'" 'model < 6' 'model IN (SELECT 5)' 'model + 0 = 5' 'app = 6' "app_id = '1'"; do
	grouped number.db "$group"
done
for group in "app = (SELECT min(name) FROM apps)" "app BETWEEN 'a' AND 'n'" 'app IS NULL' "(app > 'b' AND app < 'x')" 0; do
	begun unfair.db "$group" "(id < 20 OR run_ns % 2)"
done
[[ $("$burstscope" latency -q --format csv --where "model = '5'" number.db) == *5* ]] || wrong 'no execution of model 5 was looked at'

# ---- what summary says of a priority that could be raised ----

# behind NAME LOW HIGH: twelve executions of a model of the priority LOW miss their deadline behind one of HIGH of the same app, and two behind
# nobody; into NAME.db.
behind()
{
	{
		echo 'usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us'
		echo '0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1'
		echo '0 client_connect conn=1 pid=11 uid=1001 app=1 name=phone'
		echo "0 model_prepare model=1 conn=1 name=backup priority=$2 ops=10 estimate_ns=100us step_ns=10us took_ns=500us"
		echo "0 model_prepare model=2 conn=1 name=call priority=$3 ops=10 estimate_ns=400us step_ns=10us took_ns=500us"
		echo '0 stream_open stream=1 conn=1 path=burst model=1'
		echo '0 stream_open stream=2 conn=1 path=burst model=2'
		echo '1ms 1:1 x6 every=1ms deadline=1ms'
		echo '10ms 2:1 x12 every=2ms run=400us'
		echo '10ms+50us 1:7 x12 every=2ms queue=+350us deadline=300us'
	} >"$1.timeline"
	"$trace_from_text" -e full -h golden -s "$1" -u "00000000-0000-4000-a000-$(printf '%012d' "${#1}")" "$1" <"$1.timeline"
	"$burstscope" import -q -o "$1.db" "$1"
}

behind outranked low high
[[ $(sql outranked.db "SELECT DISTINCT cause, count(*) FROM miss_cause WHERE is_primary GROUP BY 1" | tail -1) == queued_behind,12 ]] ||
	wrong "outranked: $(sql outranked.db 'SELECT cause, count(*) FROM miss_cause WHERE is_primary GROUP BY 1' | tail -n +2)"
"$burstscope" summary outranked.db >answer
looked=$((looked + 1))
grep -q 'missed 12 of' answer && grep -q '12 behind work of a higher priority: its own could be raised' answer || wrong "summary of outranked: $(grep queued_behind answer)"
behind equals high high
"$burstscope" summary equals.db >answer
looked=$((looked + 1))
grep -q 'queued_behind' answer || wrong "summary of equals: $(<answer)"
! grep -q 'could be raised' answer || wrong "summary would raise what is as high as it can be: $(grep raised answer)"

# one NAME: a trace of the lines of standard input, imported into NAME.db.
one()
{
	"$trace_from_text" -h golden -s "$1" -u "00000000-0000-4000-9000-$(printf '%012d' "${#1}")" "$1"
	"$burstscope" import -q -o "$1.db" "$1"
}

# ends STATUS WORDS COMMAND...: it exits with STATUS and says WORDS.
ends()
{
	local wanted=$1 words=$2 status=0
	shift 2
	looked=$((looked + 1))
	"$burstscope" "$@" >answer 2>&1 </dev/null || status=$?
	((status == wanted)) || wrong "burstscope $* ends with $status, not $wanted"
	grep -qF "$words" answer || wrong "burstscope $* does not say: $words (but: $(<answer))"
}

# ---- a preparation that is late by the way back of its answer alone ----

one prepared <<'END'
0 service_state pid=100 policy=fair preempt_mode=none lanes=1 contract=1
0 client_connect conn=1 pid=11 uid=1001 app=1 name=phone
5000000 model_prepare model=1 conn=1 name=backup priority=low ops=10 deadline_ns=5500000 took_ns=4000000
5700000 deadline_miss model=1 kind=late stage=returned deadline_ns=5500000 over_ns=200000
7000000 model_prepare model=2 conn=1 name=backup priority=low ops=10 deadline_ns=7500000 took_ns=1000000
END
ends 0 "phone's backup: 1 of 2 preparations missed their deadline (1 late, the worst by 200.0 us)" summary prepared.db
"$burstscope" misses -q --format csv --part preparations prepared.db >answer
looked=$((looked + 1))
grep -q '^phone,backup,2,1,1,0,200000,' answer || wrong "preparations: $(<answer)"

# No execution: no rule holds of nothing.
printf '%s\n' 'starvation none' fairness priority 'priority honoured >= 90 %' 'coverage >= 99 %' 'p50 e2e <= 1s' 'miss ratio <= 1 %' >of_nothing.slo
ends 3 'verdict: cannot tell: no rule failed, and 7 of 7 are inconclusive' check --slo of_nothing.slo prepared.db

# ---- one side alone ----

for i in 1 2 3 4 5; do
	echo "${i}000000 exec_client exec=2:$i model=7 path=sync deadline_ns=${i}900000 status=none began=${i}00000 at=1000,60000,61000,100"
done >clients.lines
one clients_alone <clients.lines
printf '%s\n' 'starvation none' fairness priority >audits.slo
for audit in starvation priority fairness summary; do
	ends 3 'the service was not recorded' "$audit" --verdict clients_alone.db
done
ends 3 'the service was not recorded' check --slo audits.slo clients_alone.db

{
	echo '0 service_state instance=0 policy=fair preempt_mode=none lanes=1 contract=1'
	for i in 1 2 3 4 5; do
		echo "${i}000000 exec_service exec=2:$i model=7 app=20 priority=low path=sync lane=0 status=none began=${i}00000 at=10,20,30,40,50,60,0,0,0,-"
	done
	echo '6000000 deadline_miss exec=2:6 model=7 kind=transient stage=admission deadline_ns=5900000 estimate_ns=0 over_ns=100000'
	echo '6000001 exec_service exec=2:6 model=7 app=20 priority=low path=sync lane=255 status=missed_deadline_transient began=5800000 at=10,20,-,-,200000,200060,0,0,0,-'
} >service.lines
one service_alone <service.lines
ends 0 'at least 1 of 6 executions missed a deadline; for 5 of them, it is not known whether there was one' misses service_alone.db
ends 0 'at least 1 of 6 executions missed a deadline; for 5 of them, it is not known whether there was one' summary service_alone.db
same service_alone.db "SELECT n_unknown, missed_percent IS NULL, n_missed = SELECT count(*), 1, (SELECT count(*) FROM execution WHERE miss IS NOT NULL)
	FROM execution WHERE deadline IS NULL" misses --part totals

# ---- one side alone, and rules: what the other side knows is not known ----

# outcome LINE DB: what the rule of that line comes to, and why.
outcome()
{
	printf '%s\n' "$1" >rule.slo
	looked=$((looked + 1))
	"$burstscope" check -q --slo rule.slo "$2" >answer 2>&1 </dev/null || true
	sed -n 3p answer | cut -d ' ' -f 1
}

# A client is not told how a fenced execution ends: 12 of those, of 17 deadlines, of which it knows that 5 were met.
{
	sed 's/deadline_ns=\(.\)900000/deadline_ns=\1000000/' clients.lines
	for i in {10..21}; do
		echo "${i}000000 exec_client exec=3:$i model=8 path=fenced deadline_ns=${i}900000 status=none began=${i}00000 at=1000,60000,61000,100"
	done
} >launched.lines
one launched <launched.lines
[[ $(sql launched.db "SELECT count(*) FROM execution WHERE path = 'fenced' AND status IS NULL AND miss IS NULL AND complete AND deadline IS NOT NULL" | tail -1) == 12 ]] ||
	wrong 'launched: 12 fenced executions of which the client was not told how they ended'
for rule in 'miss ratio of path=fenced <= 1 %' 'miss ratio <= 45 %' 'at most 1 misses in any 10 of path=fenced' 'p50 e2e of path=fenced <= 5s' 'p50 run of path=sync <= 5s'; do
	[[ $(outcome "$rule" launched.db) == INCONCLUSIVE ]] || wrong "launched: $rule: $(<answer)"
done
# A client does not know priorities and slots: the executions may all be of the one that a rule selects.
for rule in 'executions of priority=low >= 17' 'executions of app=nobody >= 1' 'executions of priority=high path=sync >= 5'; do
	[[ $(outcome "$rule" launched.db) == INCONCLUSIVE ]] || wrong "launched: $rule: $(<answer)"
done
for rule in 'executions >= 18' 'executions of priority=low >= 18' 'executions of priority=high path=sync >= 6' 'executions of warm >= 1'; do
	[[ $(outcome "$rule" launched.db) == FAIL ]] || wrong "launched: $rule: $(<answer)"
done
[[ $(outcome 'executions of path=sync >= 5' launched.db) == PASS ]] || wrong "launched: a client knows paths: $(<answer)"
[[ $(outcome 'miss ratio of path=sync <= 20 %' launched.db) == PASS ]] || wrong "launched: the client sees a call's answer: $(<answer)"
for command in misses summary; do
	ends 0 'at least 0 of 17 deadlines were missed; the outcome of 12 of them is not known' $command launched.db
	ends 0 '12 executions were seen from the client alone' $command launched.db
done
ends 0 'NONE 5' summary launched.db
ends 0 'unknown 12' summary launched.db

# A service sees no more of a call than until it wrote the result: of 5 deadlines it knows none to be met, and a latency is longer than what it saw.
for i in {1..8}; do
	echo "${i}000000 exec_service exec=2:$i model=7 app=20 priority=low path=sync lane=0 status=none began=${i}00000 at=10,20,30,40,50,60,0,0,0,- deadline_ns=${i}900000"
done >answered.lines
one answered < <(head -1 service.lines; cat answered.lines)
[[ $(sql answered.db "SELECT count(deadline) || ' ' || count(miss) || ' ' || sum(sides = 'service') FROM execution" | tail -1) == '8 0 8' ]] ||
	wrong 'answered: 8 deadlines, seen from the service'
for rule in 'miss ratio <= 50 %' 'at most 1 misses in any 2' 'p50 e2e <= 1s' 'p50 overhead <= 1s' 'p50 overhead share <= 100 %' 'p50 return <= 1s'; do
	[[ $(outcome "$rule" answered.db) == INCONCLUSIVE ]] || wrong "answered: $rule: $(<answer)"
	grep -q 'clients were not recorded\|not all was recorded' answer || wrong "answered: $rule does not say why: $(<answer)"
	grep -q '8 executions were seen from the service alone' <("$burstscope" check --slo rule.slo answered.db) || wrong "answered: check does not say that it judges one side"
	grep -q '8 executions were seen from the service alone' <("$burstscope" check --format junit --slo rule.slo answered.db) || wrong "answered: JUnit does not say that it judges one side"
	grep -q '"service_alone":8' <("$burstscope" check --format json --slo rule.slo answered.db) || wrong "answered: JSON does not say that it judges one side"
done
[[ $(outcome 'p50 e2e <= 10ns' answered.db) == FAIL ]] || wrong "answered: what the service saw is too long already: $(<answer)"
[[ $(outcome 'p50 queue <= 1s' answered.db) == PASS ]] || wrong "answered: the service sees all of the queue: $(<answer)"
ends 0 'at least 0 of 8 deadlines were missed; the outcome of 8 of them is not known' misses answered.db
same answered.db "SELECT n_unseen, missed_percent IS NULL = SELECT count(*), 1 FROM execution WHERE deadline IS NOT NULL" misses --part totals

sed 's/policy=fair/policy=native/' service.lines >native.lines
one native_alone <native.lines
ends 3 'policy native has no lanes' priority --verdict native_alone.db
ends 3 'policy native has no lanes' fairness --verdict --bound 5ms native_alone.db
ends 0 'nothing that was ready waited longer' starvation --verdict native_alone.db
ends 3 'policy native has no lanes' starvation --verdict --threshold 1us native_alone.db

# ---- two services: each by itself ----

# Service 1 has two apps on one lane, of which each has it for 20 ms although 10 us would do; service 2 has one app, whose model cannot be stopped for 60 ms.
first=$((1 << 20)) second=$((2 << 20))
{
	echo 'usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us'
	echo '0 service_state instance=1 pid=100 policy=fifo preempt_mode=save lanes=1 contract=1'
	echo '0 service_state instance=2 pid=200 policy=fifo preempt_mode=save lanes=1 contract=1'
	for i in 1 2; do
		echo "0 client_connect conn=$((first + i)) pid=1$i uid=1001 app=$i name=app$i"
		echo "0 model_prepare model=$((first + i)) conn=$((first + i)) name=net priority=medium ops=10 estimate_ns=100us step_ns=10us took_ns=500us"
		echo "0 stream_open stream=$((first + i)) conn=$((first + i)) path=burst model=$((first + i))"
	done
	echo "0 client_connect conn=$((second + 1)) pid=21 uid=1001 app=3 name=app3"
	echo "0 model_prepare model=$((second + 1)) conn=$((second + 1)) name=big priority=medium ops=10 estimate_ns=60ms step_ns=60ms took_ns=500us"
	echo "0 stream_open stream=$((second + 1)) conn=$((second + 1)) path=burst model=$((second + 1))"
	echo "1ms $((first + 1)):1 run=20ms"
	echo "2ms $((first + 2)):1 queue=+19ms run=20ms"
	echo "1ms $((second + 1)):1 run=60ms"
} >two.timeline
one_of_full()
{
	"$trace_from_text" -e full -h golden -s "$1" -u "00000000-0000-4000-b000-$(printf '%012d' "${#1}")" "$1"
	"$burstscope" import -q -o "$1.db" "$1"
}
one_of_full two <two.timeline
ends 1 'service 1: app2 was ' fairness --verdict --bound 5ms two.db
ends 3 'too little to tell' fairness --verdict two.db
grep -v "$((second + 1))" two.timeline | grep -v instance=2 | one_of_full app2_alone
ends 1 'app2 was ' fairness --verdict --bound 5ms app2_alone.db
[[ $(outcome 'fairness lag <= 5ms' two.db) == FAIL ]] || wrong "check of two services: $(<answer)"

# ---- a service that was not heard until later ----

# One app that the service told of, and one execution that a client alone told of, and that may have waited for up to 300 ms.
{
	echo 'usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us'
	echo '0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1'
	echo '0 client_connect conn=1 pid=11 uid=1001 app=1 name=heard'
	echo '0 model_prepare model=1 conn=1 name=net priority=medium ops=10 estimate_ns=100us step_ns=10us took_ns=500us'
	echo '0 stream_open stream=1 conn=1 path=burst model=1'
	echo 'untold client_connect conn=2 pid=12 uid=1002 app=2'
	echo 'untold model_prepare model=2 conn=2 priority=high'
	echo 'untold stream_open stream=2 conn=2 path=sync model=2'
	echo '1ms 1:1 x4 every=1ms'
	echo '10ms 2:1 side=client'
	echo '20ms 2:2 side=client run=300ms'
	echo '400ms 1:5 x4 every=1ms'
} >later.timeline
one_of_full later <later.timeline
[[ $(sql later.db "SELECT count(*) FROM execution WHERE sides = 'client' AND complete" | tail -1) == 2 ]] || wrong 'later: two executions that the client alone tells of'
for audit in starvation fairness; do
	ends 3 '2 executions were not recorded from beginning to end' "$audit" --verdict later.db
done
[[ $(outcome 'fairness' later.db) == INCONCLUSIVE ]] || wrong "check of later: $(<answer)"
# One that cannot have waited for long changes nothing.
sed 's/run=300ms/run=50us/' later.timeline | one_of_full sooner
ends 0 'verdict: pass' starvation --verdict sooner.db
ends 0 'verdict: pass' fairness --verdict --bound 5ms sooner.db

# Of one app the name was not recorded: its executions, which are slow, may be of the app that a rule selects.
{
	echo 'usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us'
	echo '0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1'
	for i in 1 2; do
		if ((i == 1)); then echo "0 client_connect conn=$i pid=1$i uid=1001 app=$i name=phone"; else echo "untold client_connect conn=$i pid=1$i uid=1001 app=$i"; fi
		echo "0 model_prepare model=$i conn=$i name=net priority=medium ops=10 estimate_ns=100us step_ns=10us took_ns=500us"
		echo "0 stream_open stream=$i conn=$i path=burst model=$i"
	done
	echo '1ms 1:1 x12 every=1ms deadline=300us'
	echo '20ms 2:1 x14 every=10ms run=5ms deadline=300us'
} >nameless.timeline
one_of_full nameless <nameless.timeline
for rule in 'p50 e2e of app=phone <= 1ms' 'miss ratio of app=phone <= 10 %' 'at most 1 miss in any 4 of app=phone' 'executions of app=phone >= 13'; do
	[[ $(outcome "$rule" nameless.db) == INCONCLUSIVE ]] || wrong "nameless: $rule: $(<answer)"
done
for rule in 'p50 e2e of app=phone <= 8ms' 'executions of app=phone >= 12'; do
	[[ $(outcome "$rule" nameless.db) == PASS ]] || wrong "nameless: $rule: $(<answer)"
done
for rule in 'p50 e2e of app=phone <= 1us' 'executions of app=phone >= 27'; do
	[[ $(outcome "$rule" nameless.db) == FAIL ]] || wrong "nameless: $rule: $(<answer)"
done
printf 'p50 e2e of app=phone <= 1ms\n' >rule.slo
[[ $(sql nameless.db "SELECT n_unsure FROM ($("$burstscope" check --slo rule.slo --show-sql nameless.db | sed 's/;$//'))" | tail -1) == 14 ]] || wrong 'nameless: the query that check shows counts those that may be of the app'

# Nothing but refusals: the app never got as far as an execution.
one_of_full refusals <<'END'
0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1
0 client_connect conn=1 pid=11 uid=1001 app=1 name=big
4ms resource_exhausted owner=app owner_id=1 kind=persistent resource=memory asked=24 limit=3
END
ends 0 big memory --part exhausted refusals.db
ends 0 'burstscope memory --part exhausted' summary refusals.db
ends 4 'contains no executions' starvation --verdict refusals.db

# No event of a kind without which lanes are not what they seem, and no loss tells that: waits and inversions that never were decide nothing.
{
	echo '0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1'
	echo '0 client_connect conn=1 pid=11 uid=1001 app=1 name=phone'
	for i in {10..49}; do
		echo "${i}000000 sched_enqueue exec=2:$i model=8 app=1 priority=low"
		echo "${i}010000 sched_dispatch exec=2:$i lane=0"
	done
} >endless.words
one_of_full endless <endless.words
ends 3 'no exec_end was recorded' starvation --verdict endless.db
ends 3 'no exec_end was recorded' fairness --verdict --bound 5ms endless.db
ends 3 'no exec_end was recorded' priority --verdict endless.db
ends 0 'kinds of events that were not recorded: exec_end, model_prepare' summary endless.db

# The verdict counts episodes as the tables do, though lost runs leave it open whether the wait was longer than ten times the median.
{ cat "$here/unfair.trace" && echo 'lose 1ms+50us 5ms+100us'; } | one_of_full open_median
[[ $(sql open_median.db 'SELECT count(*) FROM starvation' | tail -1) == 1 ]] || wrong 'open_median: one wait is an episode by the runs that were recorded'
ends 3 'cannot tell: work that was ready waited 200.0 ms for a lane; unknown whether' starvation --verdict open_median.db

# ---- explain: the phases and the ledger of a miss have one typical run ----

# The service's estimate for the execution differs from that for its model, and too few executions have run to do without.
{
	echo 'usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us'
	echo '0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1'
	echo '0 client_connect conn=1 pid=11 uid=1001 app=1 name=late'
	echo '0 model_prepare model=1 conn=1 name=net priority=medium ops=10 estimate_ns=100us step_ns=10us took_ns=500us'
	echo '0 stream_open stream=1 conn=1 path=burst model=1'
	echo '1ms 1:1 run=300us deadline=250us estimate=40us'
} >own.timeline
one_of_full own <own.timeline
for db in own.db camera.db after.db; do
	while IFS=, read -r id budget share; do
		typical=$("$burstscope" explain "$id" "$db" --part phases -q --format csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "typical_ns") at = i; next } { n += $at } END { printf "%d", n }')
		looked=$((looked + 1))
		((typical - budget == share)) || wrong "$db: explain $id: typical phases of $typical ns, less a budget of $budget, are not the ledger's $share"
	done < <(sql "$db" "SELECT x.id, x.deadline - x.submitted, c.late_ns FROM execution x JOIN miss_cause c ON c.execution_id = x.id
		WHERE x.miss = 'late' AND x.complete AND c.cause IN ('too_big', 'too_tight') ORDER BY x.id LIMIT 6" | tail -n +2)
done

# ---- rules: check counts what the query that it shows counts, and many rules at once as each alone ----

# counts DB RULE QUERY: figure and n of the rule, as QUERY has them of what check shows, which stands for @.
counts()
{
	local db=$1 rule=$2 query=$3 shown answer

	printf '%s\n' "$rule" >rule.slo
	shown=$("$burstscope" check --slo rule.slo --show-sql "$db")
	answer=$("$burstscope" check -q --format csv --slo rule.slo "$db" | tail -1 | cut -d , -f 4,7) || true
	looked=$((looked + 1))
	[[ $(sql "$db" "${query/@/"($shown)"}" | tail -1) == "$answer" ]] || wrong "$db: check of $rule: $answer is not what its query counts: $(sql "$db" "SELECT * FROM ($shown)")"
}

# counts_all DB SLO [COUNTED]: the queries that check shows for the rules have the numbers that check counts, all that it counts. Asked in one statement.
# COUNTED: the rules that check counts for, if not the same.
counts_all()
{
	local db=$1 slo=$2 counted=${3-$2} statement='' name i
	local -a names shown

	"$slo_counts" "$counted" "$db" >all_counted
	"$burstscope" check --slo "$slo" --show-sql "$db" | sed 's/^-- line [0-9]*: /\x00&/' >all_shown
	mapfile -d '' -t shown <all_shown
	for ((i = 1; i < ${#shown[@]}; i++)); do
		read -ra names < <(sed -n "${i}s/=[^ ]*//gp" all_counted)
		statement+="${statement:+ UNION ALL }SELECT $i"
		for name in "${names[@]}"; do
			statement+=" || ' $name=' || printf('%.12g', $name)"
		done
		statement+=" FROM (${shown[i]})"
	done
	sql "$db" "$statement" | tail -n +2 | sort -n | cut -d ' ' -f 2- >all_queried
	looked=$((looked + ${#shown[@]} - 1))
	cmp -s all_queried all_counted || wrong "$db: check of $slo: the queries and the counts of check: $(diff all_queried all_counted)"
	cat all_counted >>counts_seen
}

# Two runs of a stream that was not recorded: trial runs, or executions. And one execution.
one_of_full trials <<'END'
0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1
0 client_connect conn=1 pid=11 uid=1001 app=1 name=phone
1000000 sched_enqueue exec=7:1 model=8 app=1 priority=low
1010000 sched_dispatch exec=7:1 lane=0
1100000 exec_end exec=7:1 lane=0
2000000 sched_enqueue exec=7:2 model=8 app=1 priority=low
2010000 sched_dispatch exec=7:2 lane=0
2100000 exec_end exec=7:2 lane=0
3000000 exec_submit exec=2:1 model=8 path=sync
3010000 fmq_read exec=2:1 queue=request
3100000 sched_enqueue exec=2:1 model=8 app=1 priority=low
3110000 sched_dispatch exec=2:1 lane=0
3200000 exec_end exec=2:1 lane=0
3300000 exec_return exec=2:1
END
for rule in 'executions of priority=low >= 2' 'executions >= 3'; do
	[[ $(outcome "$rule" trials.db) == INCONCLUSIVE ]] || wrong "trials: $rule: $(<answer)"
	grep -q ' 2 that may be trial runs' answer || wrong "trials: $rule does not say why: $(<answer)"
done
for rule in 'executions >= 4' 'executions of priority=high >= 1' 'executions of path=sync priority=low >= 4'; do
	[[ $(outcome "$rule" trials.db) == FAIL ]] || wrong "trials: $rule: $(<answer)"
done
[[ $(outcome 'executions of app=phone path=sync >= 1' trials.db) == PASS ]] || wrong "trials: one is an execution: $(<answer)"
for rule in 'executions >= 1' 'executions of path=burst >= 1' 'executions of priority=low >= 1' 'executions of app=phone warm >= 1'; do
	counts trials.db "$rule" 'SELECT n_executions, n_executions FROM @'
	counts launched.db "$rule" 'SELECT n_executions, n_executions FROM @'
done
# The same beside a loss, which may hide the client's side.
one_of_full torn_trial <<'END'
0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1
0 client_connect conn=1 pid=11 uid=1001 app=1 name=phone
4000000 sched_enqueue exec=7:3 model=8 app=1 priority=low
4005000 loss ended=4006000 events=1
4010000 sched_dispatch exec=7:3 lane=0
4100000 exec_end exec=7:3 lane=0
END
[[ $(outcome 'executions >= 1' torn_trial.db) == INCONCLUSIVE ]] || wrong "torn trial: $(<answer)"
counts torn_trial.db 'executions >= 1' 'SELECT n_executions, n_executions FROM @'
echo 'executions of priority=low >= 1' >rule.slo
[[ $(sql trials.db "$("$burstscope" check --slo rule.slo --show-sql trials.db)" | tail -1) == 1,0,2 ]] || wrong 'trials: what the query counts'

for db in camera.db lossy.db killed.db hung.db both.db; do
	for rule in 'p50 e2e <= 20ms' 'p99 e2e <= 100us' 'p100 e2e of path=sync <= 1us' 'p90 queue of app=camera <= 1ms' 'p50 run of warm <= 1us' \
		'p50 queue of cold <= 1s' 'p95 finish of priority=medium <= 1ns' 'p50 overhead of path=burst <= 1ms'; do
		counts "$db" "$rule" 'SELECT CAST(figure AS INTEGER), n FROM @'
	done
	for rule in 'miss ratio <= 5 %' 'miss ratio of path=burst <= 90 %' 'miss ratio of app=camera <= 0 %'; do
		counts "$db" "$rule" "SELECT 100.0 * n_missed / nullif(n, 0), n FROM (SELECT *, n_deadlines - n_unknown - n_no_client - n_no_service AS n FROM @)"
	done
	for rule in 'executions of app=camera >= 5' 'executions >= 5' 'executions of model=tracker cold >= 5' 'executions of path=sync priority=low >= 5'; do
		counts "$db" "$rule" 'SELECT n_executions, n_executions FROM @'
	done
done

cat >kinds.slo <<'END'
p50 e2e <= 20ms
p99 queue <= 10us
p90 run of warm <= 1us
p50 overhead <= 1us
p50 overhead share of path=burst <= 5 %
p90 e2e of app=phone <= 1ms
miss ratio <= 5 %
miss ratio of warm <= 5 %
executions of warm >= 5
executions >= 5
coverage >= 90 %
END
for db in *.db; do
	counts_all "$db" kinds.slo
done
for count in n n_over n_given_up n_unknown n_no_client n_no_service n_unsure n_deadlines n_missed n_perhaps n_executions n_trials n_head; do
	grep -qE "(^| )$count=[1-9]" counts_seen || wrong "no recording has $count"
done
sed 's/20ms/1us/' kinds.slo >other.slo
if (failures=0; counts_all camera.db kinds.slo other.slo; ((failures == 0))) >/dev/null; then
	wrong 'what check counts otherwise was not noticed'
fi

# A rule against a baseline: the query has the limit that follows from it, of itself the longest time.
printf 'p100 e2e <= baseline\n' >rule.slo
shown=$("$burstscope" check --slo rule.slo --baseline camera.db --show-sql camera.db)
answer=$("$burstscope" check -q --format csv --slo rule.slo --baseline camera.db camera.db | tail -1 | cut -d , -f 4,7) || true
looked=$((looked + 1))
[[ $(sql camera.db "SELECT CAST(figure AS INTEGER), n FROM ($shown)" | tail -1) == "$answer" ]] || wrong "camera.db: check against a baseline: $answer is not what its query counts"
[[ $(sql camera.db "SELECT n_over FROM ($shown)" | tail -1) == 0 ]] || wrong 'camera.db: check against itself: the query has another limit'

# More rules than one pass counts: the answers of each alone, one after the other.
for bound in 1ns 10us 100us 300us 1ms 20ms 1s; do
	printf '%s\n' "p50 e2e <= $bound" "p99 queue of app=camera <= $bound" "p90 run of model=tracker warm <= $bound" "p100 e2e of path=sync <= $bound" \
		"p50 overhead of app=photos <= $bound" "p10 slots of cold <= $bound" "p99 e2e of app=nobody <= $bound" "p75 e2e of app=camera model=tracker path=burst warm <= $bound"
done >many.slo
for percent in 1 2 5 10 20 50 90 99; do
	printf '%s\n' "coverage >= $percent %" "miss ratio <= $percent %" "miss ratio of path=burst <= $percent %" "at most 2 misses in any 1$percent of app=camera" \
		"executions of priority=medium >= $percent" "p50 overhead share of path=burst warm <= $percent %" "miss ratio of app=camera <= $percent %" 'starvation none' fairness
done >>many.slo
(($(wc -l <many.slo) == 128)) || wrong "$(wc -l <many.slo) rules"
for db in camera.db lossy.db; do
	"$burstscope" check -q --format csv --slo many.slo "$db" | sed '1d; s/^[0-9]*,//' >left || true
	while IFS= read -r rule; do
		printf '%s\n' "$rule" >rule.slo
		"$burstscope" check -q --format csv --slo rule.slo "$db" | sed '1d; s/^[0-9]*,//' || true
	done <many.slo >right
	looked=$((looked + 1))
	cmp -s left right || wrong "$db: check of 128 rules is not what it says of each alone: $(diff left right | head -4)"
	[[ $(cut -d , -f 2 left | sort -u | tr '\n' ' ') == *FAIL*PASS* ]] || wrong "$db: rules that pass, and rules that fail: $(cut -d , -f 2 left | sort | uniq -c)"
done

# That it would notice.
if (failures=0; same camera.db "SELECT count(*) = SELECT count(*) + 1 FROM miss_cause" misses --part ledgers; ((failures == 0))) >/dev/null; then
	wrong 'what does not agree was not noticed'
fi

((looked > 110)) || wrong "only $looked answers were looked at"
((failures == 0)) || exit 1
echo "agree.sh: $looked answers agree"
