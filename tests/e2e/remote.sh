#!/usr/bin/env bash
# remote.sh BURSTSCOPE SERVICE LOAD JSON_SCHEMA SCHEMA CASE_SCHEMA -- burstscope top, watch and exporter of another
# host's session, at a relay daemon in a network namespace of its own: their sums are those of an import of the relay's
# files; relays and sessions that do not exist, end or die.
set -euo pipefail
. "$(dirname "$0")/../relay.sh"
burstscope=$1 service=$2 load=$3 json_schema=$4 schema=$5 cases_schema=$6
export LC_ALL=C.UTF-8
cd "$tmp"
url=net://$relay_at
far=/host/$(uname -n)/far

# field NAME: print that field of the last object in the file printed, a number or a word.
field() { tail -n 1 printed | sed -nE "s/\"models\":.*//; s/.*\"$1\":\"?([^,}\"]*).*/\1/p"; }

# refused STATUS WORDS ARG...: the command must end with STATUS and one line with WORDS.
refused()
{
	local want=$1 words=$2 status=0
	shift 2
	"$burstscope" "$@" >out 2>err || status=$?
	((status == want)) || wrong "$*: status $status"
	(($(wc -l <err) == 1)) || wrong "$*: not one line: $(<err)"
	[[ $(<err) == *"$words"* ]] || wrong "$*: not '$words': $(<err)"
}

# ---- relays and sessions that do not exist ----
refused 2 'write net://RELAY' top --url "$relay_at"
refused 2 'write net://RELAY' top --url "$url/far"
refused 2 'leave out SESSION' top --url "$url" far
refused 2 'leave out SESSION' top --url "$url" --pid $$
refused 2 'leave out SESSION' top --url "$url" --service "$tmp/socket"
refused 2 'leave out SESSION' exporter --url "$url" --detail full
refused 5 "there is no relay (lttng-relayd) at $url" top --once --url "$url"
refused 5 "there is no relay (lttng-relayd) at $url" exporter --url "$url"
start_relay
refused 5 'has no live session; lttng create --live makes one' top --once --url "$url"
start_sessiond
live_session far NOTICE
refused 5 "has no live session /host/nobody/far; it has $far" top --once --url "$url/host/nobody/far"
live_session near NOTICE
refused 5 "has several live sessions; append one of these to the URL: " top --once --url "$url"
quietly lttng --no-sessiond destroy near
quietly lttng --no-sessiond destroy far

# ---- a session from beginning to end: exactly what an import of the relay's files has ----

# wanted NAME SQL FIELD
wanted()
{
	local is
	is=$("$burstscope" sql --format csv "$1.db" "$2" | tail -n 1)
	[[ $(field "$3") == "$is" ]] || wrong "$1: $3 is $(field "$3"), and $is in an import"
}

# follows NAME LEVEL [EVENT...]
follows()
{
	local name=$1 follower
	rm -rf relayed/*
	live_session far "${@:2}"
	quietly lttng --no-sessiond start far
	: >printed # the output of an earlier top is removed
	"$burstscope" top --format json --interval 100ms --url "$url" >printed &
	follower=$!
	awaits '[[ -s printed ]]' 'a first object'
	start_another "$service"
	quietly "$load" --socket "$tmp/socket" --duration 500ms --quiet noisy-neighbour
	stop_service
	quietly lttng --no-sessiond destroy far
	await_end "$follower" "$name: top ends with its session" || wrong "$name: top ends with $?"
	"$burstscope" import -q -o "$name.db" relayed/*/far-*
	[[ $(field final) == true && $(field exact) == true ]] || wrong "$name: not exact: $(tail -n 1 printed | cut -c1-700)"
	[[ $(field message) == "session far of host $(uname -n) has ended" ]] || wrong "$name: it says $(field message)"
	[[ $(field source) == "session far of host $(uname -n) at $url" ]] || wrong "$name: it is $(field source)"
	wanted "$name" "SELECT count(*) FROM execution WHERE path <> 'prepare'" executions
	wanted "$name" "SELECT count(*) FROM execution WHERE miss IS NOT NULL" missed
	wanted "$name" "SELECT count(*) FROM execution WHERE path <> 'prepare' AND quality <> 'complete'" incomplete
	wanted "$name" "SELECT CAST(total(slot_misses) AS INTEGER) FROM execution" slot_misses
	wanted "$name" "SELECT sum(run_ns) FROM execution WHERE path <> 'prepare'" run_ns
	wanted "$name" "SELECT sum(queue_ns) FROM execution WHERE path <> 'prepare'" queue_ns
	wanted "$name" "SELECT count(*) FROM loss" losses
	wanted "$name" "SELECT sum(lost_events) FROM trace" lost_events
	(($(field executions) > 50)) || wrong "$name: only $(field executions) executions"
	for line in 1 2 '$'; do
		sed -n "${line}p" printed >one.json
		"$json_schema" "$schema" one.json || wrong "$name: object $line is not as the schema says: $(<one.json)"
	done
}

follows full DEBUG_FUNCTION
follows compact NOTICE exec_client exec_service

# ---- a session that ends before its first stream: no figure of it is known, so none is exact ----
live_session far NOTICE
quietly lttng --no-sessiond start far
: >printed
"$burstscope" top --format json --interval 100ms --url "$url" >printed &
follower=$!
awaits '[[ -s printed ]]' 'a first object'
quietly lttng --no-sessiond destroy far
await_end "$follower" 'top ends with a session without a stream' || wrong "without a stream: top ends with $?"
[[ $(field executions) == 0 && $(field exact) == false ]] || wrong "without a stream: $(tail -n 1 printed | cut -c1-700)"

# ---- watch: conditions of a fold, and a case of the data from the relay ----
live_session far NOTICE exec_client exec_service
quietly lttng --no-sessiond start far
apps= watcher=
trap 'stop_jobs; kill $apps $watcher 2>/dev/null || true; stop_relay || true; stop_service || true; stop_sessiond; ip netns del relay 2>/dev/null || true; rm -rf "$tmp"' EXIT
refused 2 'the LTTng of the host that records decides that' watch --on miss --url "$url$far"
refused 2 'leave out --detail' watch --on 'starvation>1s' --url "$url$far" --pid $$
refused 5 "has no live session /host/nobody/far" watch --on 'starvation>1s' --url "$url/host/nobody/far"
: >watch.err
"$burstscope" watch -o cases --url "$url$far" --on 'p50 e2e of app=noisy <= 1us' --window 1s --after 100ms --stop-after 1 >watch.out 2>watch.err &
watcher=$!
awaits 'grep -q "^cases go into cases" watch.err' "watch begins: $(<watch.err)"
start_another "$service"
"$load" --socket "$tmp/socket" --duration 60s --quiet noisy-neighbour >load.out 2>&1 &
apps=$!
await_end "$watcher" 'watch ends with its case' || wrong "watch --url ends with $?: $(<watch.err)"
watcher=
[[ $(<watch.err) == "watching session far of host $(uname -n) by a fold over all events that the relay passes on, "* ]] || wrong "watch --url says $(<watch.err)"
# A busy relay may pass on no data for some time, which is a hole in the case.
[[ $(<watch.out) =~ ^"p50 e2e of app=noisy <= 1us fail"(s|ed)" over 1.000 s" ]] || wrong "watch --url finds $(<watch.out)"
case=$(echo cases/*)
[[ -s $case/trace.db && -s $case/report.html && ! -e $case/trace ]] || wrong "a case has $(ls "$case")"
"$json_schema" "$cases_schema" "$case/case.json" || wrong "case.json is not as the schema says"
[[ $("$burstscope" latency -q --format csv "$case/trace.db") == *noisy,* ]] || wrong "the case does not know its apps: $("$burstscope" latency -q "$case/trace.db")"

# ---- begun late: top shows that it is not exact; lag is a figure ----
awaits '[[ $(find relayed -name "bursts_*" -size +0) ]]' 'events at the relay'
"$burstscope" top --url "$url$far" --for 3s --format json >printed || wrong "--for 3s: status $?"
(($(wc -l <printed) >= 3)) || wrong "--for 3s: only $(wc -l <printed) objects"
[[ $(field exact) == false && $(field why) == *'had begun before it was read'* ]] || wrong "late: $(tail -n 1 printed | cut -c1-700)"
(($(field executions) > 50)) || wrong "late: only $(field executions) executions"
[[ $(field lag_ns) =~ ^[0-9]+$ && $(field counted_p50_ns) =~ ^[0-9]+$ ]] || wrong "late: no lag: $(tail -n 1 printed | cut -c1-700)"
[[ $(field lost_events) == 0 ]] || wrong "late: $(field lost_events) events lost"

# ---- beside a process that is stopped, signals are heeded: one ends top, the next one its wait for the sums ----
: >printed
"$burstscope" top --url "$url$far" --interval 100ms --format json >printed 2>stopped.err &
follower=$!
awaits '[[ -s printed ]]' 'a first object'
reading=$(pgrep -P "$follower" -f burstscope-importer)
kill -STOP "$reading"
awaits 'read -r -t 0 <"/proc/$reading/fd/0"' 'top asks the process that is stopped'
kill "$follower"
awaits 'kill -TSTP "$follower" && grep -q "^State:.T" "/proc/$follower/status"' 'Ctrl-Z stops top while it waits for the sums'
kill -CONT "$follower"
awaits '! kill "$follower" 2>/dev/null' 'top ends by signals'
status=0
await_end "$follower" 'top ends by signals' || status=$?
[[ $status == 5 && $(<stopped.err) == *'stopped before the process that reads the recording had answered' ]] ||
	wrong "beside a process that is stopped: top ends with $status: $(<stopped.err)"

# ---- one viewer at a time; metrics; a relay that dies, and another one in its place ----
"$burstscope" exporter --listen 127.0.0.1:9464 --url "$url$far" >exporter.out 2>exporter.err &
exporter=$!
awaits "[[ -e exporter.err ]]" "a file"
page() { { exec 3<>/dev/tcp/127.0.0.1/9464 && printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&3 && cat <&3; } 2>/dev/null || true; }
executions() { page /metrics | awk '/^nnburst_executions_total/ { n += $NF } END { print n + 0 }'; }
awaits '(($(executions) > 50))' "executions in the metrics: $(<exporter.err)"
[[ $(page /healthz) == *' 200 '* ]] || wrong "healthz while it reads: $(page /healthz)"
refused 5 "another program reads session far of host $(uname -n); a relay allows one" top --once --url "$url$far"
stop_relay -KILL
awaits '[[ $(page /healthz) == *" 503 "*"the relay has gone"* ]]' 'healthz without a relay'
(($(page /metrics | awk '/^burstscope_losses_total/ { print $NF }') > 0)) || wrong "the relay died, and is no loss: $(page /metrics | grep losses)"
[[ $(<exporter.err) == *"the relay at $url$far has gone, and nothing is read"* ]] || wrong "the relay died: $(<exporter.err)"
quietly lttng --no-sessiond destroy --no-wait far
start_relay
live_session far NOTICE exec_client exec_service
quietly lttng --no-sessiond start far
awaits '[[ $(<exporter.err) == *"the relay is there again: nothing was read for "* ]]' 'the relay is back'
before=$(executions)
awaits '(($(executions) > before))' 'executions by the second relay'
quietly lttng --no-sessiond destroy far
await_end "$exporter" 'the exporter ends with the session' || wrong "the exporter ends with $?"
[[ $(tail -n 1 exporter.err) == *"session far of host $(uname -n) has ended" ]] || wrong "the session ended: $(<exporter.err)"

# ---- watch: a relay that dies, another one in its place, and the end of the session ----
live_session far NOTICE exec_client exec_service
quietly lttng --no-sessiond start far
: >watch.err
"$burstscope" watch -o cases --url "$url$far" --on 'starvation>60s' >watch.out 2>watch.err &
watcher=$!
awaits 'grep -q "^cases go into cases" watch.err' "watch begins: $(<watch.err)"
stop_relay -KILL
awaits 'grep -q "^nothing is watched: .* asked again each second" watch.err' 'watch without a relay'
quietly lttng --no-sessiond destroy --no-wait far
start_relay
live_session far NOTICE exec_client exec_service
quietly lttng --no-sessiond start far
awaits 'grep -q "^watching again; what happened in the .* before was not caught" watch.err' 'watch with another relay'
quietly lttng --no-sessiond destroy far
await_end "$watcher" 'watch ends with the session' || wrong "watch --url ends with $?: $(<watch.err)"
watcher=
grep -q "^session far of host $(uname -n) has ended$" watch.err || wrong "the session ended: $(<watch.err)"

# ---- top: what a relay that dies did not pass on is a loss, though no relay comes again ----
live_session far NOTICE exec_client exec_service
quietly lttng --no-sessiond start far
: >printed
"$burstscope" top --url "$url$far" --interval 100ms --format json >printed 2>top.err &
follower=$!
awaits '[[ -s printed ]]' 'a first object'
awaits '(($(field executions) > 50))' "executions: $(<top.err)"
before=$(field losses)
stop_relay -KILL
awaits '[[ $(field message) == "the relay at $url$far has gone" ]]' 'top without a relay'
kill "$follower"
await_end "$follower" 'top ends' || wrong "top without a relay ends with $?: $(<top.err)"
[[ $(field final) == true && $(field exact) == false ]] && (($(field losses) > before)) ||
	wrong "top without a relay, after $before losses: $(tail -n 1 printed | cut -c1-700)"
quietly lttng --no-sessiond destroy --no-wait far
kill "$apps"
await_end "$apps" 'the load ends' 2>/dev/null || true
exit $((failures > 0))
