#!/usr/bin/env bash
# load.sh LOAD SERVICE JSON EXAMPLES -- nnburst-load with a service of its own: every shipped scenario, cut short, and
# its figures; the effect of each set of rules; each way to end; a killed app, a killed service, and Ctrl-C.
set -euo pipefail

load=$1 service=$2 json=$3 examples=$4 failures=0
. "$(dirname "$0")/../daemon.sh"
sock=$tmp/socket

wrong()
{
	echo "load.sh: $*"
	failures=$((failures + 1))
}

# ends STATUS ARGUMENT...: run the program; it must end with STATUS. $out has its output, $said its standard error.
ends()
{
	local wanted=$1 status=0
	shift
	out=$("$load" "$@" 2>"$tmp/said") || status=$?
	said=$(<"$tmp/said")
	((status == wanted)) || wrong "'$*' ends with $status, not $wanted: $said"
}

says() # WORDS
{
	[[ $said == *"$1"* ]] || wrong "not said: $1 (but: $said)"
}

# shows EXPECTATION...: the report in $out must be sound and meet the expectations.
shows()
{
	local found

	found=$("$json" "$@" <<<"$out") || wrong "${BASH_LINENO[0]}: $found"
}

# scenario NAME TEXT: write a file of that name.
scenario() { printf '%s\n' "$2" >"$tmp/$1.json"; }

# start_service [OPTION...]: a killed service leaves its socket behind.
start_service()
{
	stop_daemon
	rm -f "$sock"
	start_daemon "$service" "$@"
}

# until_true COMMAND...: wait until it succeeds.
until_true() { until "$@" >"$tmp/null" 2>&1; do sleep 0.05; done; }

# ---- without a service ----

ends 0 --help
ends 0 --version
ends 0 --list
mapfile -t shipped < <(cut -d ' ' -f 1 <<<"$out")
for name in audio camera+background cold-start deadline-mix inversion noisy-neighbour starvation stateful-audio too-big \
	transport; do
	[[ " ${shipped[*]} " == *" $name "* ]] || wrong "--list does not name $name"
done
for name in "${shipped[@]}"; do
	ends 0 --check "$name"
done
ends 2
says 'expected SCENARIO, --model FILE or --list; see nnburst-load --help'
ends 2 audio audio
says "unexpected argument 'audio'"
ends 2 --fromat json audio
says "no option '--fromat'; did you mean '--format'? See nnburst-load --help"
ends 2 --nonsense audio
says "no option '--nonsense'; see nnburst-load --help"
ends 2 --duration 5 audio
says "--duration: '5' is not valid; write a time from 1ms to 1h, such as 500ms"
ends 2 --seed=-1 audio
ends 2 --model mlp audio
ends 2 --record audio
says '--record needs --model FILE'
ends 2 --service --socket "$sock" audio
says '--service starts a service'
ends 2 --model mlp --record --format json
says '--record does not go with --format json'
mkdir "$tmp/taken"
: >"$tmp/taken/file"
ends 2 --model mlp --record="$tmp/taken"
says "$tmp/taken exists already; write --record=DIR"
ends 2 --model ''
ends 4 --model "$tmp/none.tflite"
says "none.tflite: No such file or directory"
ends 4 "$tmp/none.tflite"
says "none.tflite is a model and no scenario; run it with --model "
echo 'no flat buffer at all' >"$tmp/other.tflite"
ends 4 --model "$tmp/other.tflite"
says "nnburst-load: other.tflite: it is not a .tflite file: bytes 4 to 7 are not 'TFL3'"
ends 4 --model nonsense
# A link has the name of its target, whatever that is; a name must not command a terminal.
cp "$tmp/other.tflite" "$tmp/blob"
ln -s blob "$tmp/link.tflite"
ends 4 --model "$tmp/link.tflite"
says "nnburst-load: link.tflite: it is not a .tflite file: bytes 4 to 7 are not 'TFL3'"
cp "$examples/add.json" "$tmp/"$'\e[31mred.json'
ends 0 --service --duration 50ms --model "$tmp/"$'\e[31mred.json'
[[ $out == *'?[31mred'* && $out != *$'\e'* ]] || wrong "the name of a model reaches the terminal as it is: $out"
ends 0 --check --model mlp
ends 0 --service --duration 50ms --model mlp
[[ $out == *'one app that runs one model by bursts'* ]] || wrong "--model: $out"
ends 0 --service --duration 50ms --model "$examples/add.json"
ends 2 --format
says '--format: table|json is missing'
ends 2 --log= audio
ends 2 --list=yes
ends 4 audoi
says "no scenario 'audoi'; did you mean 'audio'?"
ends 4 ./none.json
says './none.json: No such file or directory'
scenario bad '{"duration": "1s", "apps": [{"name": "a", "streams": [{"model": "mlp", "framse": 3}]}]}'
ends 4 "$tmp/bad.json"
says "bad.json: apps[0].streams[0]: no key 'framse'"
[[ $(wc -l <"$tmp/said") == 1 ]] || wrong "more than a line: $said"
scenario bad '{"duration": "1s", "apps": [{"name": "a", "streams": [{"model": "./none.json"}]}]}'
ends 4 "$tmp/bad.json"
says 'bad.json: apps[0].streams[0].model: '
cp "$examples/add.json" "$tmp"
scenario bad '{"duration": "1s", "apps": [{"name": "a", "streams": [
	{"model": "./add.json", "state": "pools", "state_pairs": [[0, 1]]}]}]}'
ends 4 "$tmp/bad.json"
says 'bad.json: apps[0].streams[0].state_pairs: output 0 to input 1: the model has 1 and 1'
[[ $(wc -l <"$tmp/said") == 1 ]] || wrong "more than a line: $said"
ends 5 --socket "$sock" --duration 100ms audio
says "app 'assistant': "
[[ ! $out ]] || wrong 'a report of nothing'

# ---- every shipped scenario ----

sound=(problems=0 interrupted=false service.driver=xnnpack)
start_service
run() { ends 0 --socket "$sock" --format json "$@"; } # a run without a failure; its report is in $out

for name in "${shipped[@]}"; do
	# On a busy machine half a second may end before the first answer.
	for ms in 500 5000; do
		run --duration "${ms}ms" "$name"
		! "$json" 'apps.0.streams.0.executions>0' <<<"$out" >"$tmp/said" || break
	done
	shows "${sound[@]}" "scenario.name=$name" apps.0.done=true 'apps.0.streams.0.executions>0' \
		apps.0.lane_time.apps=1 "scenario.duration_ns=${ms}000000"
done
ends 0 --socket "$sock" --duration 200ms audio
for words in 'audio: ' 'policy fair, ' 'p99 us' 'executions %' 'max lag ms' 'assistant/features, from us'; do
	[[ $out == *"$words"* ]] || wrong "the table does not say: $words"
done

# ---- the load is what the scenario asks for ----

scenario paths '{"executions": 50, "apps": [
	{"name": "a", "streams": [
		{"name": "burst", "model": "keyword", "measure": true, "deadline": "1ns", "told": false},
		{"name": "sync", "model": "keyword", "path": "sync", "pools": 1, "measure": true, "deadline": "1min"},
		{"name": "async", "model": "keyword", "path": "async", "pools": 5},
		{"name": "fenced", "model": "keyword", "path": "fenced", "pools": 3, "measure": true}]},
	{"name": "b", "streams": [
		{"name": "short", "model": "keyword", "burst_length": 5},
		{"name": "fresh", "model": "recurrent", "pools": 3, "fresh_pools": 2, "polling": "none"},
		{"name": "three", "model": "mlp", "threads": 3, "polling": "5us", "priority": "low"}]}]}'
run "$tmp/paths.json"
shows "${sound[@]}" executions=350 apps.0.executions=200 apps.0.lane_time.executions=200 apps.0.lane_time.apps=1 \
	apps.0.streams.0.cold.n=1 apps.0.streams.0.warm.n=49 apps.0.streams.0.on_device.n=50 \
	apps.0.streams.0.misses.late=50 apps.0.streams.0.fallbacks=0 \
	apps.0.streams.1.cold=null apps.0.streams.1.in_driver.n=50 apps.0.streams.1.misses.late=0 \
	apps.0.streams.2.on_device=null apps.0.streams.2.statuses.NONE=50 apps.0.streams.2.pools=5 \
	apps.0.streams.3.in_driver.n=50 apps.0.streams.3.wrong=0 apps.0.streams.3.bursts=null \
	apps.1.streams.0.bursts=10 apps.1.streams.0.cold.n=10 apps.1.streams.0.wrong=0 \
	apps.1.streams.1.bursts=1 apps.1.streams.1.cold.n=25 apps.1.streams.1.pools=75 \
	apps.1.streams.2.executions=50 apps.1.streams.2.bursts=3 apps.1.streams.2.cold.n=3 apps.1.device_ns=null

# The log has each execution once, with a number of its own.
columns=$'exec\tsubmitted_ns\treturned_ns\tstatus\tpath'
# logged PATH N: the log must have N executions by this path.
logged()
{
	local n

	n=$(awk -v path="$1" 'NR > 1 && NF == 5 && $2 <= $3 && $5 == path' "$tmp/log" | wc -l)
	((n == $2)) || wrong "$n lines of $1 in the log, not $2"
}

run --log "$tmp/log" "$tmp/paths.json"
[[ $(head -1 "$tmp/log") == "$columns" ]] || wrong "the log begins with $(head -1 "$tmp/log")"
(($(wc -l <"$tmp/log") == 351)) || wrong "the log has $(wc -l <"$tmp/log") lines"
logged sync 50
logged async 50
logged fenced 50
logged burst 200
ids=$(tail -n +2 "$tmp/log" | cut -f 1 | grep -vx 0 | sort -u | wc -l)
((ids == 350)) || wrong "350 executions have $ids numbers"
awk -F '\t' 'NR > 1 && $4 != "NONE"' "$tmp/log" | grep . && wrong 'not all in the log went well'
ends 5 --socket "$sock" --log "$tmp/none/log" "$tmp/paths.json"
says "$tmp/none/log: No such file or directory"
[[ ! $out ]] || wrong 'a report of a run that has nowhere to write its log'
ends 5 --socket "$sock" --log /dev/full "$tmp/paths.json"
says '/dev/full: cannot be written'

# Frames: each frame that was due was run, or is reported as skipped.
scenario frames '{"duration": "300ms", "apps": [{"name": "a", "streams": [
	{"name": "easy", "model": "mlp", "period": "10ms"},
	{"name": "later", "model": "mlp", "fps": 100, "start": "95ms", "path": "async"},
	{"name": "impossible", "model": "mobilenet", "period": "50us", "deadline": "1ns", "told": false,
	 "path": "sync"}]}]}'
run "$tmp/frames.json"
shows "${sound[@]}" apps.0.streams.0.executions+apps.0.streams.0.skipped=30 \
	apps.0.streams.1.executions+apps.0.streams.1.skipped=21 'apps.0.streams.2.skipped>0' \
	apps.0.streams.2.executions+apps.0.streams.2.skipped=6000 'apps.0.streams.2.from_due.min_ns>50000'

# A model from a file, which is searched beside the scenario.
scenario file '{"executions": 3, "apps": [{"name": "a", "nice": 19, "streams": [{"model": "./add.json"}]}]}'
run --seed 9 "$tmp/file.json"
shows "${sound[@]}" apps.0.streams.0.executions=3 apps.0.streams.0.name=add.json scenario.seed=9 apps.0.nice=19

# ---- states: the outputs are the same wherever the state is, and by every path ----

streams=
for path in burst sync async fenced; do
	for kind in pools device; do
		streams+='{"name": "'$path-$kind'", "model": "recurrent", "path": "'$path'", "state": "'$kind'"},'
	done
done
scenario states '{"executions": 37, "apps": [{"name": "a", "streams": ['"${streams%,}"']}]}'
run "$tmp/states.json"
for i in 0 1 2 3 4 5 6 7; do
	shows apps.0.streams.$i.state.steps=37 apps.0.streams.$i.state.resets=0 apps.0.streams.$i.state.fell_back=0 \
		apps.0.streams.$i.state.buffers=$((i % 2 * 4))
done
shows "${sound[@]}"
digests=$(grep -o '"digest": "[0-9a-f]*"' <<<"$out" | sort -u)
[[ $digests == '"digest": "'* && $digests != *$'\n'* ]] || wrong "not one digest: $digests"
run --seed 2 "$tmp/states.json"
[[ $(grep -m 1 -o '"digest": .*"' <<<"$out") != "$digests" ]] || wrong 'another model, and the same digest'

# The outputs agree as far as both runs went; with several threads, each with its own state; with other pools and
# bursts; from a file; and without a service's buffers, as before HAL 1.3.
scenario states '{"executions": 60, "apps": [
	{"name": "a", "streams": [
		{"name": "alone", "model": "svdf-32", "state": "device"},
		{"name": "three", "model": "svdf-32", "state": "device", "threads": 3, "path": "async"},
		{"name": "fresh", "model": "svdf-32", "state": "pools", "fresh_pools": 7, "burst_length": 5},
		{"name": "small", "model": "./add.json", "state": "device", "state_pairs": [[0, 0]]},
		{"name": "stateless", "model": "svdf-32"}]},
	{"name": "old", "hal": "1.2", "streams": [
		{"name": "shared", "model": "svdf-32", "state": "device", "path": "sync"},
		{"name": "small", "model": "./add.json", "state": "pools", "state_pairs": [[0, 0]], "path": "async"}]}]}'
run "$tmp/states.json"
shows "${sound[@]}" apps.0.streams.0.state.steps=60 'apps.0.streams.1.state.steps<61' \
	apps.0.streams.1.state.buffers=6 apps.0.streams.2.state.steps=60 apps.0.streams.2.bursts=12 \
	apps.0.streams.2.pools=18 apps.0.streams.3.state.fell_back=0 apps.0.streams.4.state=null \
	apps.1.streams.0.state.buffers=2 apps.1.streams.0.state.fell_back=2 apps.1.streams.0.state.steps=60
ends 0 --socket "$sock" "$tmp/states.json"
for words in 'fell back' 'copied ms'; do
	[[ $out == *"$words"* ]] || wrong "the table does not say: $words"
done

# An app that may have one buffer only: at least one of each pair is in shared memory, and the outputs are the same.
start_service --limit buffers=1
run "$tmp/states.json"
shows "${sound[@]}" 'apps.0.streams.0.state.fell_back>0' 'apps.0.streams.1.state.fell_back>2' \
	'apps.0.streams.3.state.fell_back>0' apps.0.streams.0.state.steps=60
start_service

# ---- requests to the service, and its answers ----

# A deadline in the past is missed for good on every path, without a retry; a deadline that cannot be missed is not
# missed.
for path in burst sync async fenced; do
	scenario told '{"executions": 20, "apps": [{"name": "a", "streams": [
		{"name": "hopeless", "model": "mlp", "path": "'$path'", "deadline": "1ns", "retries": 3},
		{"name": "easy", "model": "mlp", "path": "'$path'", "deadline": "60min"},
		{"name": "too-late", "model": "mlp", "path": "'$path'", "prepare_deadline": "1ns"},
		{"name": "in-time", "model": "mlp", "path": "'$path'", "prepare_deadline": "60min"}]},
		{"name": "old", "hal": "1.2", "streams": [{"model": "mlp", "deadline": "1ns", "told": false}]}]}'
	run "$tmp/told.json"
	shows "${sound[@]}" apps.0.streams.0.statuses.MISSED_DEADLINE_PERSISTENT=20 apps.0.streams.0.misses.persistent=20 \
		apps.0.streams.0.misses.aborted=20 apps.0.streams.0.retries=0 \
		apps.0.streams.1.statuses.NONE=20 apps.0.streams.1.misses.late=0 \
		apps.0.streams.2.prepared=MISSED_DEADLINE_PERSISTENT apps.0.streams.2.executions=0 \
		apps.0.streams.3.prepared=NONE apps.0.streams.3.executions=20 \
		apps.0.lane_time.missed_persistent=20 \
		apps.1.hal=1.2 apps.1.streams.0.statuses.NONE=20 apps.1.streams.0.misses.late=20
done

# ---- each set of rules ----

for policy in priority fifo edf; do
	start_service --policy "$policy" --preempt restart --lanes 3 --deadline refuse
	run --duration 500ms deadline-mix
	shows "${sound[@]}" "service.policy=$policy" service.preempt=restart service.lanes=3 service.deadlines=refuse \
		'executions>0' scenario.seed=1
done

# Q-21: deadlines that no idle device could meet, and ones that only a busy device cannot. Q-23: then a retry helps.
start_service --lanes 1
run too-big
shows "${sound[@]}" 'apps.0.streams.0.misses.persistent>0' apps.0.streams.0.statuses.NONE=0 \
	apps.0.streams.0.misses.transient=0 \
	apps.1.streams.0.misses.persistent=0 'apps.1.streams.0.misses.transient>0' 'apps.1.streams.0.statuses.NONE>0' \
	'apps.1.streams.0.retries>0' 'apps.1.streams.1.statuses.NONE>0'
start_service --deadline advise # the service gives up nothing
run --duration 500ms too-big
shows "${sound[@]}" 'apps.0.streams.0.misses.late>0' \
	apps.0.streams.0.misses.transient+apps.0.streams.0.misses.persistent=0

# An app of low priority gets no lane time, or its share. On a machine so busy that no execution waits for a lane,
# neither shows.
ends_up()
{
	run --duration 1s starvation
	"$json" "${sound[@]}" fairness.apps=2 "$@" <<<"$out"
}
start_service --lanes 1 --policy priority
until_true ends_up 'apps.1.lane_time.ratio<0.3' 'apps.0.lane_time.ratio>1.5' 'fairness.jain<0.7'
for lanes in 1 2; do
	start_service --lanes "$lanes" --policy fair
	until_true ends_up 'apps.1.lane_time.ratio>0.5' 'apps.0.lane_time.ratio<1.5' 'fairness.jain>0.8'
done

# The kernel may keep an execution that has a lane waiting for a cpu, which adds lag: try again until it does not.
lag_is_bounded()
{
	run --duration 500ms starvation
	"$json" 'fairness.max_lag_ns<fairness.bound_ns' <<<"$out"
}
for preempt in none save; do
	start_service --lanes 1 --policy fair --preempt "$preempt"
	until_true lag_is_bounded
done

# Urgent work waits for all earlier work, or for one operation. Where other programs have the cpus, the lane may be
# idle when urgent work arrives, and an operation may take as long as a model: try again until neither happens.
urgent()
{
	run --duration 1s inversion
	"$json" "$@" <<<"$out"
}
start_service --lanes 1 --policy fifo --preempt none
until_true urgent 'apps.0.streams.0.e2e.p50_ns>apps.0.streams.1.on_device.min_ns'
shows "${sound[@]}" apps.0.lane_time.preemptions=0
start_service --lanes 1 --policy fair --preempt save
until_true urgent 'apps.0.streams.0.e2e.p50_ns<apps.0.streams.1.on_device.p50_ns' 'apps.0.lane_time.preemptions>0'
shows "${sound[@]}" apps.0.lane_time.restarts=0

start_service

# ---- failures are reported ----

scenario long '{"duration": "60min", "apps": [
	{"name": "a", "streams": [{"model": "mlp"}, {"model": "keyword", "period": "20ms"}]},
	{"name": "b", "streams": [{"model": "mlp", "path": "async"}]}]}'

# run_aside NAME: run it in the background, and wait until both its apps have threads at work: $runner, and the apps in
# $apps.
run_aside()
{
	"$load" --socket "$sock" --format json --log "$tmp/log" "$tmp/$1.json" >"$tmp/out" 2>"$tmp/said" &
	runner=$!
	until_true at_work
}

at_work()
{
	local stat pid rest
	apps=()
	for stat in /proc/[0-9]*/stat; do
		read -r pid rest <"$stat" 2>"$tmp/null" || continue
		read -r _ rest <<<"${rest##*) }" # the state follows the name
		[[ ${rest%% *} == "$runner" ]] && apps+=("$pid")
	done
	((${#apps[@]} == 2)) || return
	for pid in "${apps[@]}"; do # a stream's thread has the stream's name
		cat /proc/"$pid"/task/*/comm | grep -qx 'mlp' || return
	done
}

# ended STATUS: the program in the background must end with STATUS.
ended()
{
	local status=0

	wait "$runner" 2>"$tmp/null" || status=$?
	out=$(<"$tmp/out") said=$(<"$tmp/said")
	((status == $1)) || wrong "it ended with $status, not $1: $said"
}

run_aside long
kill -INT "$runner"
ended 0
shows interrupted=true problems=0 apps.0.done=true apps.1.done=true
shows "executions=$(($(wc -l <"$tmp/log") - 1))"

run_aside long
kill -KILL "${apps[0]}"
kill -INT "$runner"
ended 1
shows problems=1 apps.0.done=false apps.0.signal=9 apps.1.done=true
says "app 'a' died of signal 9"
shows "apps.1.executions=$(awk '$5 == "async"' "$tmp/log" | wc -l)"

run_aside long
kill -KILL "$runner"
ended 137
for pid in "${apps[@]}"; do
	until_true eval "! [[ -e /proc/$pid/stat ]] || [[ \$(</proc/$pid/stat) == *') Z '* ]]"
done

run_aside long
kill -KILL "$daemon"
wait "$daemon" 2>"$tmp/null" || true
daemon=
ended 1
shows 'problems>1' interrupted=false
says 'DEAD_OBJECT'

# A state is lost with the service, and with the app; no thread waits for it.
scenario stateful '{"duration": "60min", "apps": [
	{"name": "a", "streams": [{"model": "mlp"}, {"model": "svdf", "state": "device"},
		{"name": "periodic", "model": "recurrent", "state": "device", "period": "10ms", "path": "async"}]},
	{"name": "b", "streams": [{"model": "mlp"}, {"model": "svdf", "state": "pools"}]}]}'
start_service
run_aside stateful
kill -KILL "${apps[0]}"
kill -INT "$runner"
ended 1
shows problems=1 apps.0.done=false apps.1.done=true apps.1.streams.1.wrong=0
run_aside stateful
kill -KILL "$daemon"
wait "$daemon" 2>"$tmp/null" || true
daemon=
ended 1
shows 'problems>1' interrupted=false apps.0.streams.1.wrong=0 apps.0.streams.1.state.resets=0
says 'DEAD_OBJECT'

# ---- the apps of one user are one app of the service ----

# The service counts on from one run to the next, as long as one client stays.
scenario idle '{"duration": "60min", "apps": [
	{"name": "a", "streams": [{"model": "mlp", "start": "59min"}]},
	{"name": "b", "streams": [{"model": "mlp", "start": "59min"}]}]}'
scenario one '{"executions": 30, "apps": [
	{"name": "a", "streams": [{"model": "mlp"}]}, {"name": "b", "streams": [{"model": "mlp", "path": "sync"}]}]}'
start_service --app-identity uid
run_aside idle
for _ in 1 2; do
	run "$tmp/one.json"
	shows "${sound[@]}" "apps.0.known_as=$EUID" "apps.1.known_as=$EUID" apps.0.lane_time.apps=2 \
		apps.0.lane_time.executions=60 apps.1.lane_time.executions=60
done
ends 0 --socket "$sock" "$tmp/one.json"
[[ $out == *"a: 2 apps that are one to the service, $EUID"* ]] || wrong 'it does not name the apps that count as one'
kill -INT "$runner"
ended 0

# ---- other users ----

scenario users '{"executions": 5, "apps": [
	{"name": "a", "uid": 12345, "streams": [{"model": "mlp"}]},
	{"name": "b", "uid": 12346, "streams": [{"model": "mlp", "path": "sync"}]}]}'
if ((EUID == 0)); then
	chmod 755 "$tmp" # other users must reach the socket
	start_service --app-identity uid
	run "$tmp/users.json"
	shows "${sound[@]}" apps.0.known_as=12345 apps.1.known_as=12346 apps.1.uid=12346
else
	ends 5 --socket "$sock" "$tmp/users.json"
	says 'apps[0].uid: only root can be user 12345'
fi
stop_daemon
((failures == 0)) && echo 'load.sh: all as it should be'
