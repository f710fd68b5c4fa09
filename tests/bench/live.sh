#!/usr/bin/env bash
# live.sh SECONDS BURSTSCOPE SERVICE LOAD -- the figures of bench_live, a line each: NAME VALUE.
#
# A service whose device takes no time is asked by streams with a period, and burstscope top follows a session of its own: compact, and in
# full. Its cpu is that of burstscope and of the process that reads for it; LTTng's daemons have theirs, which is printed beside it.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
seconds=$1 burstscope=$2 service=$3 load=$4
cd "$tmp"
hertz=$(getconf CLK_TCK)

# streams N PERIOD: so many of one app.
streams()
{
	local i list=
	for ((i = 0; i < $1; i++)); do
		list+="${list:+,}{\"name\": \"s$i\", \"model\": \"keyword\", \"period\": \"$2\"}"
	done
	scenario many "{\"name\": \"many\", \"duration\": \"600s\", \"apps\": [{\"name\": \"app\", \"streams\": [$list]}]}"
}

# ticks PID...: of cpu, so far.
ticks() { local pid; for pid; do sed -E 's/.*\) //' "/proc/$pid/stat"; done | awk '{ n += $12 + $13 } END { print n + 0 }'; }

field() { sed -nE "s/\"models\":.*//; s/.*\"$1\":\"?([^,}\"]*).*/\1/p" <<<"$2"; }

# measure NAME DETAIL: what top says in the end, and what it took.
measure()
{
	local name=$1 before after last own
	before=$(ticks "$sessiond" $(pgrep -P "$sessiond" || true))
	TIMEFORMAT='%U %S'
	own=$({ time "$burstscope" top --detail "$2" --format json --for "${seconds}s" >top.out 2>top.err; } 2>&1) ||
		{ cat top.err >&2; exit 1; }
	after=$(ticks "$sessiond" $(pgrep -P "$sessiond" || true))
	last=$(tail -n 1 top.out)
	echo "$name.per_second $(awk -v n="$(field executions "$last")" -v s="$seconds" 'BEGIN { print n / s }')"
	echo "$name.p50_ms $(awk -v n="$(field counted_p50_ns "$last")" 'BEGIN { print n / 1e6 }')"
	echo "$name.p99_ms $(awk -v n="$(field counted_p99_ns "$last")" 'BEGIN { print n / 1e6 }')"
	echo "$name.cpu_percent $(awk -v s="$seconds" '{ print ($1 + $2) / s * 100 }' <<<"$own")"
	echo "$name.daemons_percent $(awk -v a="$before" -v b="$after" -v h="$hertz" -v s="$seconds" 'BEGIN { print (b - a) / h / s * 100 }')"
	echo "$name.lost $(field lost_events "$last")"
	echo "$name.late $(field late "$last")"
	echo "$name.late_ms $(awk -v n="$(field late_ns "$last")" 'BEGIN { print n / 1e6 }')"
	echo "$name.exact $(field exact "$last" | sed 's/true/1/; s/false/0/')"
}

loaded()
{
	"$load" --quiet --socket "$tmp/socket" "$tmp/many.json" >load.out 2>&1 &
	apps=$!
	measure "$1" "$2"
	kill "$apps"
	wait "$apps" 2>/dev/null || true
}

start_sessiond
start_service "$service" --driver null
streams "${NNB_LIVE_COMPACT_STREAMS:-10}" 500us
loaded compact compact
streams "${NNB_LIVE_FULL_STREAMS:-5}" 500us
loaded full full
