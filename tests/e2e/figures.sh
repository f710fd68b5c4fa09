#!/usr/bin/env bash
# figures.sh BURSTSCOPE TRACE_FROM_TEXT -- summary, latency and overhead, compared with the same figures computed in
# another way: percentiles by counting ranks, shares and causes by adding up, and stored groups by grouping again. And
# recordings with few events.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
burstscope=$1 trace_from_text=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0 looked=0
export LC_ALL=C.UTF-8 COLUMNS=100 XDG_CACHE_HOME=$tmp/cache
unset BURSTSCOPE_PAGER PAGER
cd "$tmp"

wrong()
{
	echo "figures.sh: $*"
	failures=$((failures + 1))
}

# same WHAT A B: the two files must be equal and not empty.
same()
{
	looked=$((looked + 1))
	[[ -s $2 ]] || wrong "$1: there is nothing to compare"
	diff "$2" "$3" >difference || { wrong "$1:"; head -10 difference; }
}

asks() # asks DB QUERY: print the rows without their head.
{
	"$burstscope" sql -q --format csv -- "$1" "$2" | tail -n +2
}

# ---- recordings ----

number=0
for trace in "$here"/../golden/*.trace; do
	name=$(basename "$trace" .trace)
	[[ $name != alone ]] || continue # seen from one side: client.db, below, is such a recording
	number=$((number + 1))
	for form in full compact; do
		"$trace_from_text" -e $form -h "$name" -s "$name" -u "00000000-0000-4000-8000-$(printf '%012d' $number)" -o 1700000000000000000 \
			"$name-$form.trace" <"$trace"
		"$burstscope" import -q -o "$name-$form.db" "$name-$form.trace"
	done
done
# And all of them at once. A habit is computed for whole recordings only.
for form in full compact; do
	mapfile -t traces < <(printf '%s\n' *-$form.trace | grep -v '^habit-')
	"$burstscope" import -q -o $form.db "${traces[@]}"
done

# Models that share a name, and apps that do; 2000 executions in a shuffled order.
crowd()
{
	echo 'usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us'
	echo '0 service_state pid=100 policy=fair preempt_mode=save lanes=4 spin_us=50 contract=1'
	for app in 1 2; do
		echo "0 client_connect conn=$app pid=1$app uid=100$app app=$app name=twin"
		for model in 1 2; do
			local id=$((app * 10 + model)) priority=low
			((model == 1)) || priority=high
			echo "0 model_prepare model=$id conn=$app name=net priority=$priority ops=1 estimate_ns=100us step_ns=10us took_ns=1ms"
			echo "0 stream_open stream=$id conn=$app path=burst model=$id"
		done
		echo "0 stream_open stream=$((app * 10)) conn=$app path=sync"
	done
	local at=1000 x=7 path model
	for i in $(seq 500); do
		for app in 1 2; do
			x=$(((x * 1103515245 + 12345) % 2147483648)) at=$((at + 700))
			model=$((app * 10 + 1 + x / 65536 % 2))
			path=$model
			((x / 1024 % 3)) || path=$((app * 10))
			if ((path == model)); then
				echo "${at}us $path:$i send=$((x / 4096 % 90))us run=$((50 + x / 256 % 200))us $((i % 10)) "
			else
				echo "${at}us $path:$i model=$model return=$((x / 2048 % 90))us run=$((50 + x / 256 % 200))us"
			fi
		done
	done | sed -e 's/ 0 $/ slots=60us misses=1 fetch=30us/' -e 's/ [0-9] $/ hits=1/'
}
crowd | sort -s -n -k1,1 >crowd.txt
"$trace_from_text" -e full crowd.trace <crowd.txt
"$burstscope" import -q -o crowd.db crowd.trace
for side in client service; do # only this side was recorded
	sed -e "s/^[0-9]*us [0-9]*:[0-9]*/& side=$side/" crowd.txt | "$trace_from_text" -e full $side.trace
	"$burstscope" import -q -o $side.db $side.trace
done
databases=(*-full.db *-compact.db crowd.db)
one_sided=(client.db service.db)

# ---- percentiles are those of counted ranks ----

ranked()
{
	cat <<-SQL
		WITH v AS (SELECT a.name || '#' || a.id AS app, m.name AS model, x.path, x.cold, x.$2 AS ns FROM execution x
		  JOIN app a ON a.id = x.app_id JOIN model m ON m.id = x.model_id WHERE x.complete AND x.status = 'NONE' AND x.$2 IS NOT NULL),
		r AS (SELECT *, row_number() OVER w AS nth, count(*) OVER (PARTITION BY app, model, path, cold) AS n FROM v
		  WINDOW w AS (PARTITION BY app, model, path, cold ORDER BY ns))
		SELECT n, max(iif(nth = (50 * n + 99) / 100, ns, NULL)), max(iif(nth = (90 * n + 99) / 100, ns, NULL)),
		  max(iif(nth = (99 * n + 99) / 100, ns, NULL)), max(ns) FROM r GROUP BY app, model, path, cold
	SQL
}
for db in "${databases[@]}" "${one_sided[@]}"; do
	for phase in e2e send run; do
		[[ $phase == e2e || " ${one_sided[*]} " != *" $db "* ]] || continue # these have no such phase
		asks "$db" "$(ranked "$db" ${phase}_ns)" | sort >wanted
		for filter in '' '--where=id > 0'; do
			"$burstscope" latency --format csv --phase $phase ${filter:+"$filter"} "$db" | tail -n +2 | rev | cut -d, -f1-5 | rev | sort >seen
			same "$db: percentiles of $phase $filter" wanted seen
		done
	done
	"$burstscope" latency --histogram --part histogram --format csv "$db" | tail -n +2 | rev | cut -d, -f1 | rev | awk '{ n += $1 } END { print n }' >seen
	asks "$db" "SELECT count(*) FROM execution WHERE complete AND status = 'NONE' AND e2e_ns IS NOT NULL" >wanted
	same "$db: the histogram has everybody" wanted seen
done

# ---- sums ----

for db in "${databases[@]}" service.db; do
	# The last column is a share: those of a group sum to 100 %.
	"$burstscope" latency --part phases --format csv "$db" | tail -n +2 |
		awk -F, '{ sum[$1","$2","$3","$4] += $NF } END { for (g in sum) if (sum[g] < 99.999999 || sum[g] > 100.000001) print g, sum[g]; print (NR > 0) }' >seen
	echo 1 >wanted
	same "$db: phases are all of it" wanted seen
	asks "$db" "SELECT sum(e2e_ns - (run_ns - redo_ns)) FROM execution WHERE complete AND status = 'NONE'" >wanted
	for filter in '' '--where=id > 0'; do
		"$burstscope" overhead --part causes --format csv ${filter:+"$filter"} "$db" | tail -n +2 | cut -d, -f3 | awk '{ n += $1 } END { printf "%d\n", n }' >seen
		same "$db: causes are all of the overhead $filter" wanted seen
		"$burstscope" overhead --part overhead --format csv ${filter:+"$filter"} "$db" | tail -n +2 | rev | cut -d, -f1 | rev | awk '{ n += $1 } END { printf "%d\n", n }' >seen
		same "$db: groups are all of the overhead $filter" wanted seen
	done
done

# ---- stored groups, and the same groups computed again ----

# A condition on single executions: one on what groups have in common, as 1, is answered from what is stored.
grouped() # grouped DB BY
{
	local command
	for command in latency 'latency --phase overhead' 'latency --phase queue' overhead; do
		[[ $command == overhead && $1 == habit-* ]] && continue
		# shellcheck disable=SC2086 # words
		"$burstscope" $command --by "$2" --format json "$1" >wanted
		# shellcheck disable=SC2086
		"$burstscope" $command --by "$2" --format json --where 'id > 0' "$1" >seen
		same "$1: $command --by $2" wanted seen
	done
}
for db in "${databases[@]}" "${one_sided[@]}"; do
	grouped "$db" app,model,priority,path
done
for db in full.db compact.db crowd.db "${one_sided[@]}"; do # the other groups are made of these
	for by in app,model,path model app priority,path path; do
		grouped "$db" $by
	done
done

# ---- cold and warm executions of a group, by hand ----

asks camera-full.db "SELECT 2, 25, 315000, 260000, 55000, 60000" >wanted
"$burstscope" overhead --part cold --format csv camera-full.db | tail -n +2 | cut -d, -f4-9 >seen
same 'cold against warm' wanted seen

# ---- recordings with few events, and names that a terminal would obey ----

printf '0 service_state pid=100 policy=fair preempt_mode=none lanes=1 contract=1\n' | "$trace_from_text" idle.trace
"$burstscope" import -q -o idle.db idle.trace
"$burstscope" summary idle.db >seen || wrong "summary of a recording without executions ends with $?"
grep -q '0 executions' seen || wrong 'summary does not say that there are no executions'
grep -q 'contains nothing to analyse' seen || wrong 'summary does not say that there is nothing to ask'
looked=$((looked + 1))

printf '0 client_connect conn=1 pid=11 uid=1 app=1 name=a\033[31m%s\n' x | cat - <(grep -v 'client_connect conn=1 ' crowd.txt | tail -n +2) >hostile.body
{
	head -1 crowd.txt
	cat hostile.body
} | "$trace_from_text" -e full hostile.trace
"$burstscope" import -q -o hostile.db hostile.trace
for command in summary latency overhead; do
	"$burstscope" $command --color never hostile.db >seen || wrong "$command of a hostile name ends with $?"
	looked=$((looked + 1))
	[[ -s seen ]] || wrong "$command of a hostile name says nothing"
	! grep -q $'\033' seen || wrong "$command: a name gets through to the terminal"
done

for side in client service; do
	"$burstscope" summary $side.db >seen || wrong "summary of the $side alone ends with $?"
	grep -q "seen from the $side alone" seen || wrong "summary does not say that the $side alone was recorded"
	looked=$((looked + 1))
done

# Two hosts: the answer names both.
"$trace_from_text" -e full -h one -u 00000000-0000-4000-8000-000000000001 one.trace <crowd.txt
"$trace_from_text" -e full -h two -u 00000000-0000-4000-8000-000000000002 two.trace <"$here/../golden/camera.trace"
"$burstscope" import -q -o hosts.db one.trace two.trace
"$burstscope" summary hosts.db >seen || wrong "summary of two hosts ends with $?"
grep -q 'on one, two; 2 traces' seen || wrong "summary does not say that there are two hosts: $(head -2 seen | tail -1)"
looked=$((looked + 1))

# ---- verdict ----

status=0
"$burstscope" summary --verdict unfair-full.db >seen || status=$?
((status == 1)) || wrong "summary --verdict of what is unfair ends with $status"
"$burstscope" summary unfair-full.db >seen || wrong "summary without --verdict ends with $?"
looked=$((looked + 2))

((failures == 0)) || exit 1
echo "figures.sh: $looked figures are right"
