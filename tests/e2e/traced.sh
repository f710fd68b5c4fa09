#!/usr/bin/env bash
# traced.sh LOAD SERVICE CHECK STRESS DURATIONS -- the events of a service and its apps are true. Every shipped
# scenario, cut short, is recorded in full and in compact at once; the two forms are compared with each other, with
# nnburst-load's own log, and with the rules of executions (trace_judge.c). Every event of the catalogue must happen.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
load=$1 service=$2 check=$3 stress=$4 durations=$5

# A thread may lose its cpu after it reads its clock and before it writes its event. That is no fault: this test checks
# the order of events, not how far two measurements of a time are apart.
apart=(--tolerance 100000 --strays 200)

# text NAME: print recording NAME as text; it must have lost no event.
text()
{
	babeltrace2 --clock-cycles --no-delta "$tmp/$1" >"$tmp/$1.txt" 2>"$tmp/$1.said" || wrong "$1 cannot be read"
	[[ ! -s $tmp/$1.said ]] || wrong "$1: $(head -3 "$tmp/$1.said")"
}

# judge NAME ARGUMENT...: judge the recording, and note its kinds of events.
judge()
{
	local name=$1
	shift

	"$check" "$@" "${apart[@]}" >"$tmp/judged" 2>&1 || { wrong "$name:"; cat "$tmp/judged"; }
	grep -E '^[a-z_]+ [0-9]+$' "$tmp/judged" >>"$tmp/happened" || true
	grep -E '^[0-9]+ executions: ' "$tmp/judged" | sed "s/^/$name: /" || true
}

# happens NAME PATTERN WHERE: recording NAME must have the event.
happens() { grep -Eq "nnburst:$2" "$tmp/$1.txt" || wrong "$1: there is no $2, which should be in $3"; }

# run SCENARIO DURATION [OPTION...]: run it with a service with these options, and add nnburst-load's log to the log.
run()
{
	local what=$1 duration=$2
	shift 2

	start_another "$service" "$@"
	quietly "$load" --quiet --socket "$tmp/socket" --duration "$duration" --log "$tmp/one.log" "$what"
	stop_service || wrong "$what: nnburstd does not end well"
	[[ -s $tmp/log ]] || head -1 "$tmp/one.log" >"$tmp/log"
	sed 1d "$tmp/one.log" >>"$tmp/log"
	# for who reads an objection: the first three digits of an execution's number say whose it is
	awk -v what="$(basename "$what")" 'NR == 2 { printf "0x%03x.. is %s\n", $1 / 2 ^ 52, what }' "$tmp/one.log"
}

now() { awk '{ printf "%.0f\n", ($1 + 0.02) * 1e9 }' /proc/uptime; }

# requests: print how many the service has taken by burst.
requests() { "$service" --status --socket "$tmp/socket" | sed -nE 's/^so far: ([0-9]+) burst requests.*/\1/p'; }

start_sessiond
session full DEBUG_FUNCTION
session compact NOTICE exec_client exec_service

# ---- every shipped scenario, with one set of rules or another ----

run audio 300ms --lanes 2
run camera+background 300ms --lanes 1 --preempt restart
run cold-start 300ms --lanes 2 --policy priority
run deadline-mix 400ms --lanes 1 --policy priority --preempt restart
run demo 1200ms --lanes 1 --policy fifo --deadline advise
run inversion 300ms --lanes 1 --policy priority
run noisy-neighbour 300ms --lanes 2 --preempt restart
run starvation 500ms --lanes 1
run stateful-audio 300ms --lanes 2 --policy priority
run too-big 1500ms --lanes 1
run transport 300ms --lanes 2
shipped=$("$load" --list | wc -l)
((shipped == 11)) || wrong "there are $shipped shipped scenarios: have the new ones recorded, too"

# ---- events that no scenario causes ----

run stateful-audio 200ms --limit buffers=1
scenario impatient '{"duration": "1s", "apps": [
	{"name": "impatient", "streams": [{"model": "mobilenet-640", "prepare_deadline": "10us"}]},
	{"name": "patient", "streams": [{"model": "mlp", "think": "5ms"}]}]}'
run "$tmp/impatient.json" 100ms
run "$tmp/impatient.json" 100ms --deadline advise # then the model is prepared, late

# Inputs too many for a burst's queue.
wide()
{
	local n=$1 i number='{"type": "TENSOR_FLOAT32", "dims": [1], "lifetime":'

	echo '{"name": "wide", "hal": "V1_0", "operands": ['
	for ((i = 0; i < n; i++)); do echo "$number \"MODEL_INPUT\"},"; done
	echo '{"type": "INT32", "dims": [], "lifetime": "CONSTANT_COPY", "value": [0]},'
	for ((i = 2; i < n; i++)); do echo "$number \"TEMPORARY_VARIABLE\"},"; done
	echo "$number \"MODEL_OUTPUT\"}], \"operations\": ["
	echo "{\"type\": \"ADD\", \"inputs\": [0, 1, $n], \"outputs\": [$((n + 1))]}"
	for ((i = 2; i < n; i++)); do
		echo ", {\"type\": \"ADD\", \"inputs\": [$((n + i - 1)), $i, $n], \"outputs\": [$((n + i))]}"
	done
	echo "], \"inputs\": [$(seq -s , 0 $((n - 1)))], \"outputs\": [$((2 * n - 1))]}"
}
wide 1100 >"$tmp/wide.json"
scenario fall-back '{"executions": 5, "apps": [{"name": "wide", "streams": [{"model": "./wide.json", "think": "5ms"}]}]}'
run "$tmp/fall-back.json" 60s

end_session full
end_session compact
text full
text compact
judge 'both forms' --full "$tmp/full.txt" --compact "$tmp/compact.txt" --log "$tmp/log"
judge 'compact alone' --compact "$tmp/compact.txt" --log "$tmp/log"
happens full 'slot_lookup: .* hit = 0, look = \( "first" ' cold-start
happens full 'slot_lookup: .* hit = 1, look = \( "again" ' cold-start
happens full 'slot_lookup: .* look = \( "client" ' cold-start
happens full 'sched_preempt: .* mode = \( "save" ' starvation
happens full 'sched_preempt: .* mode = \( "restart" ' deadline-mix
happens full 'sched_resume: .* resumed = \( "restart" ' deadline-mix
happens full 'deadline_miss: .* kind = \( "transient" ' too-big
happens full 'deadline_miss: .* kind = \( "persistent" ' too-big
happens full 'deadline_miss: \{.*\{ exec = 0, .* stage = \( "prepare" ' impatient
happens full 'deadline_miss: \{.*\{ exec = 0, .* kind = \( "late" .* stage = \( "prepare" ' 'impatient with --deadline advise'
happens full 'deadline_miss: .* stage = \( "returned" ' demo
happens full 'stream_open: .* path = \( "prepare" ' 'any of them'
happens full 'resource_exhausted: .* owner = \( "app" ' 'stateful-audio with buffers=1'
happens full 'exec_submit: .* path = \( "sync" .* fallback = 1,' fall-back
happens full 'exec_submit: .* turns = [1-9]' 'any with deadlines'
for kind in connect disconnect burst_make burst_free pool_make pool_free burst_configure burst_close; do
	happens full "app_span: .* kind = \\( \"$kind\" " 'every scenario'
done
happens full 'stream_open: .* client_spin_us = [0-9]' 'every scenario'
for path in burst sync fenced async; do
	happens full "exec_submit: .* path = \\( \"$path\" .* fallback = 0," transport
done

# ---- events that need a recording of their own ----

session verbose DEBUG_LINE
start_service "$service" --lanes 1
quietly "$load" --quiet --socket "$tmp/socket" --duration 200ms inversion
cp "$(dirname "$0")/../../docs/examples/models/loop.json" "$tmp"
scenario loops '{"executions": 5, "apps": [{"name": "loops", "streams": [{"model": "./loop.json"}]}]}'
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/loops.json"
stop_service
end_session verbose
text verbose
judge verbose --full "$tmp/verbose.txt"
n=$(grep -cE 'nnburst:loop_iteration: .* op = 0, depth = 0, iteration = [123] ' "$tmp/verbose.txt")
((n == 15)) || wrong "5 executions of 3 iterations each have $n of them"

# Apps that use buffers wrongly, and are killed.
session misuse DEBUG_FUNCTION
quietly "$stress"
end_session misuse
text misuse
judge misuse --full "$tmp/misuse.txt" --cut

# Fenced executions with a limited duration.
session durations DEBUG_FUNCTION
for deadlines in abort advise; do
	start_another "$service" --lanes 1 --deadline "$deadlines"
	quietly "$durations" "$tmp/socket"
	stop_service
done
end_session durations
text durations
judge durations --full "$tmp/durations.txt"
happens durations 'exec_submit: .* deadline_ns = 0, .* duration_ns = 1, ' 'those with a duration'
for stage in admission 'done' returned; do
	happens durations "deadline_miss: .* stage = \\( \"$stage\" .* deadline_ns = [1-9]" 'those with a duration of 1 ns'
done

# A session that begins and ends under load gets the present state, and the executions under way.
start_service "$service" --lanes 1
"$load" --quiet --socket "$tmp/socket" --duration 30s noisy-neighbour >"$tmp/report" &
load_pid=$!
until "$service" --status --socket "$tmp/socket" | grep -Eq '^bursts +5 '; do sleep 0.05; done
# listen: record until the service has taken a hundred requests more.
listen()
{
	local enough

	rm -rf "$tmp/late"
	session late DEBUG_FUNCTION
	from=$(now)
	enough=$(($(requests) + 100))
	until (($(requests) > enough)); do
		kill -0 "$load_pid" 2>/dev/null || { echo "the load is over: $(<"$tmp/report")"; exit 1; }
		sleep 0.05
	done
	end_session late
	text late
}
waits='exec_state: .* phase = \( "(queued|preempted)" .* ready_ns = [1-9]'
for _ in {1..20}; do
	listen
	! grep -Eq "nnburst:$waits" "$tmp/late.txt" || break # at that time no execution waited
done
kill -INT "$load_pid"
await_end "$load_pid" 'the load ends' || wrong "the load ends with $?: $(<"$tmp/report")"
stop_service
judge late --full "$tmp/late.txt" --from "$from" --cut
for event in exec_state service_state client_connect model_prepare stream_open pool_map; do
	happens late "$event: .* since = [1-9]" 'who listens late'
done
happens late 'app_span: .* kind = \( "burst_configure" .* since = [1-9]' 'who listens late'
happens late 'stream_open: .* path = \( "burst" .* cache = .* since = [1-9][0-9]*, client_spin_us = [0-9]' 'who listens late'
happens late "$waits" 'who listens late, while others wait'

# ---- every event happened; that of stalled executions in stalled.sh ----

"$check" --events | grep -vx sched_ready | sort >"$tmp/all"
cut -d ' ' -f 1 "$tmp/happened" | sort -u >"$tmp/did"
left=$(comm -23 "$tmp/all" "$tmp/did" | tr '\n' ' ')
[[ ! $left ]] || wrong "these never happened: $left"

((failures == 0)) || exit 1
