#!/usr/bin/env bash
# live.sh SECONDS ROUNDS BURSTSCOPE SERVICE LOAD PEER -- the figures of bench_live, a line each: NAME VALUE. What is measured once a round has a line
# for each.
#
# A service whose device takes no time is asked by streams with a period. burstscope top follows a session of its own: compact, in full, and on a
# screen; then the peer follows a live session of the same events, with the same timer, at a relay daemon. burstscope watch waits for events, and
# for what takes a fold. Its cpu is that of burstscope and of the processes that it starts; LTTng's daemons have theirs, which is printed beside it.
set -euo pipefail
. "$(dirname "$0")/../relay.sh"
seconds=$1 rounds=$2 burstscope=$3 service=$4 load=$5 peer=$6
cd "$tmp"
hertz=$(getconf CLK_TCK)
export LC_ALL=C.UTF-8
watcher= apps=
trap 'stop_jobs; for pid in $watcher $apps; do kill "$pid" 2>/dev/null || true; done; stop_relay || true; stop_service || true; stop_sessiond
	ip netns del relay 2>/dev/null || true; rm -rf "$tmp"' EXIT

# streams N PERIOD: so many of one app.
streams()
{
	local i list=
	for ((i = 0; i < $1; i++)); do
		list+="${list:+,}{\"name\": \"s$i\", \"model\": \"keyword\", \"period\": \"$2\"}"
	done
	scenario many "{\"name\": \"many\", \"duration\": \"600s\", \"apps\": [{\"name\": \"app\", \"streams\": [$list]}]}"
}

# below PID: it and the processes that it started.
below() { local pid; for pid in "$1" $(pgrep -P "$1" || true); do echo "$pid"; done; }

daemons() { below "$sessiond"; }

# ticks PID...: of cpu, so far.
ticks() { local pid; for pid; do sed -E 's/.*\) //' "/proc/$pid/stat"; done | awk '{ n += $12 + $13 } END { print n + 0 }'; }

# written PID...: bytes to disks, so far.
written() { local pid; for pid; do sed -n 's/^write_bytes: //p' "/proc/$pid/io"; done | awk '{ n += $1 } END { print n + 0 }'; }

# percent TICKS SECONDS: of one cpu.
percent() { awk -v n="$1" -v h="$hertz" -v s="$2" 'BEGIN { print n / h / s * 100 }'; }

field() { sed -nE "s/\"models\":.*//; s/.*\"$1\":\"?([^,}\"]*).*/\1/p" <<<"$2"; }

# measure NAME DETAIL: what top says in the end, and what it took.
measure()
{
	local name=$1 before after last own
	before=$(ticks $(daemons))
	TIMEFORMAT='%U %S'
	own=$({ time "$burstscope" top --detail "$2" --format json --for "${seconds}s" >top.out 2>top.err; } 2>&1) ||
		{ cat top.err >&2; exit 1; }
	after=$(ticks $(daemons))
	last=$(tail -n 1 top.out)
	echo "$name.per_second $(awk -v n="$(field executions "$last")" -v s="$seconds" 'BEGIN { print n / s }')"
	echo "$name.p50_ms $(awk -v n="$(field counted_p50_ns "$last")" 'BEGIN { print n / 1e6 }')"
	echo "$name.p99_ms $(awk -v n="$(field counted_p99_ns "$last")" 'BEGIN { print n / 1e6 }')"
	echo "$name.cpu_percent $(awk -v s="$seconds" '{ print ($1 + $2) / s * 100 }' <<<"$own")"
	echo "$name.daemons_percent $(percent $((after - before)) "$seconds")"
	echo "$name.lost $(field lost_events "$last")"
	echo "$name.late $(field late "$last")"
	echo "$name.late_ms $(awk -v n="$(field late_ns "$last")" 'BEGIN { print n / 1e6 }')"
	echo "$name.exact $(field exact "$last" | sed 's/true/1/; s/false/0/')"
}

# on_screen: the same on a terminal, where the table is drawn again and again.
on_screen()
{
	local began drawn
	printf '%s\n' "TIMEFORMAT='%U %S'" "time '$burstscope' top --for ${seconds}s 2>top.err" >on_screen.sh
	script -qec "bash on_screen.sh 2>own" typescript </dev/null >/dev/null || { cat top.err >&2; exit 1; }
	drawn=$(grep -aoF $'\033[H' typescript | wc -l)
	echo "screen.drawn_per_second $(awk -v n="$drawn" -v s="$seconds" 'BEGIN { print n / s }')"
	echo "screen.cpu_percent $(awk -v s="$seconds" '{ print ($1 + $2) / s * 100 }' own)"
}

# the peer: a session of the same events, whose live timer is that of top's session.
measure_peer()
{
	local before after n p50 p99
	live_timer=10000
	live_session peer NOTICE exec_client exec_service
	quietly lttng --no-sessiond start peer
	TIMEFORMAT='%U %S'
	before=$(ticks "$relayd")
	own=$({ time "$peer" "net://$relay_at/host/$(uname -n)/peer" "$seconds" >peer.out 2>peer.err; } 2>&1) ||
		{ cat peer.err >&2; exit 1; }
	after=$(ticks "$relayd")
	quietly lttng --no-sessiond destroy --no-wait peer
	read -r n p50 p99 <peer.out
	echo "peer.per_second $(awk -v n="$n" -v s="$seconds" 'BEGIN { print n / s }')"
	echo "peer.p50_ms $p50"
	echo "peer.p99_ms $p99"
	echo "peer.cpu_percent $(awk -v s="$seconds" '{ print ($1 + $2) / s * 100 }' <<<"$own")"
	echo "peer.relay_percent $(percent $((after - before)) "$seconds")"
}

begin_watching()
{
	: >watch.err
	"$burstscope" watch -o cases "$@" >watch.out 2>watch.err &
	watcher=$!
	awaits 'grep -q "^cases go into" watch.err' "watch begins: $(<watch.err)"
}

end_watching()
{
	kill "$watcher"
	wait "$watcher" || { cat watch.err >&2; exit 1; }
	watcher=
	[[ ! $(ls cases) ]] || { echo "there are cases: $(<watch.out)" >&2; exit 1; }
}

# measure_watch NAME ARG...: what waiting costs while nothing fires.
measure_watch()
{
	local name=$1 before wrote daemons
	shift
	begin_watching "$@"
	sleep 1 # what it does once is over
	before=$(ticks $(below "$watcher")) daemons=$(ticks $(daemons)) wrote=$(written $(below "$watcher") $(daemons))
	sleep "$seconds"
	echo "$name.cpu_percent $(percent $(($(ticks $(below "$watcher")) - before)) "$seconds")"
	echo "$name.daemons_percent $(percent $(($(ticks $(daemons)) - daemons)) "$seconds")"
	echo "$name.written_bytes $(($(written $(below "$watcher") $(daemons)) - wrote))"
	end_watching
}

begin_load()
{
	"$load" --quiet --socket "$tmp/socket" "$tmp/many.json" >load.out 2>&1 &
	apps=$!
}

end_load()
{
	kill "$apps"
	wait "$apps" 2>/dev/null || true
	apps=
}

# each_ns: how long an execution takes an app that asks for the next one as soon as it has an answer.
each_ns()
{
	"$@" "$load" --quiet --format json --socket "$tmp/socket" "$tmp/closed.json" >closed.out 2>closed.err || { cat closed.err >&2; exit 1; }
	awk '/"(began_ns|ended_ns|executions)":/ { gsub(/[",:]/, ""); if (!($1 in v)) v[$1] = $2; else if (v[$1] == "null") v[$1] = $2 }
		END { print (v["ended_ns"] - v["began_ns"]) / v["executions"] }' closed.out
}

# measure_cost: that of being watched, in the same round as that of being recorded.
measure_cost()
{
	local plain events fold
	rm -rf plain
	plain=$(each_ns "$burstscope" record -q --no-import --detail compact -o plain --)
	begin_watching --on miss --on error --on death
	events=$(each_ns)
	end_watching
	begin_watching --on 'starvation>10s' --on 'p99 e2e of app=app <= 10s'
	fold=$(each_ns)
	end_watching
	echo "cost.recorded_ns $plain"
	echo "cost.watched_events $(awk -v a="$events" -v b="$plain" 'BEGIN { print a / b }')"
	echo "cost.watched_fold $(awk -v a="$fold" -v b="$plain" 'BEGIN { print a / b }')"
}

start_relay
start_sessiond
start_service "$service" --driver null
streams "${NNB_LIVE_COMPACT_STREAMS:-10}" 500us
begin_load
measure compact compact
measure_peer
on_screen
measure_watch idle --on miss --on error --on death
measure_watch fold --on 'starvation>10s' --on 'p99 e2e of app=app <= 10s'
end_load
streams "${NNB_LIVE_FULL_STREAMS:-5}" 500us
begin_load
measure full full
end_load
scenario closed "{\"name\": \"closed\", \"duration\": \"$((seconds < 5 ? 1 : 3))s\", \"apps\": [{\"name\": \"app\", \"streams\":
	[{\"name\": \"s\", \"model\": \"keyword\"}]}]}"
for ((round = 0; round < rounds; round++)); do
	measure_cost
done
exit $((failures > 0))
