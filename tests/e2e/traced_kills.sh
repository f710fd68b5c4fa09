#!/usr/bin/env bash
# traced_kills.sh LOAD SERVICE CHECK -- many executions, each of which is sound; and a service, an app or a consumer
# daemon that is killed, after which the rest of the recording is readable and sound, or is refused with a reason.
#
# NNB_TRACED: the number of executions (20000). NNB_SOAK_SECONDS: how long to go on killing, instead of once each.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
load=$1 service=$2 check=$3
export LTTNG_UST_ALLOW_BLOCKING=1 # where the channel has that option
many=${NNB_TRACED:-20000} seconds=${NNB_SOAK_SECONDS:-0}

# The two forms side by side, read by babeltrace2: they are too long to be stored.
judge_both()
{
	"$check" --full <(babeltrace2 --clock-cycles --no-delta "$tmp/full" 2>"$tmp/full.said") \
		--compact <(babeltrace2 --clock-cycles --no-delta "$tmp/compact" 2>"$tmp/compact.said") \
		--log "$tmp/log" --tolerance 100000 --strays 200 >"$tmp/judged" 2>&1 ||
		{ wrong 'that cannot be:'; cat "$tmp/judged"; }
	[[ ! -s $tmp/full.said && ! -s $tmp/compact.said ]] || wrong "$(head -3 "$tmp"/*.said)"
}

# by_channel OPTIONS NAME LEVEL [EVENT...]: make a session whose channel has OPTIONS.
by_channel()
{
	local options=$1 name=$2 level=$3 event
	shift 3

	quietly lttng --no-sessiond create "$name" --output="$tmp/$name"
	# shellcheck disable=SC2086 # one word each
	quietly lttng --no-sessiond enable-channel --session "$name" --userspace $options own
	quietly lttng --no-sessiond enable-event --session "$name" --userspace --channel own 'nnburst:*' --loglevel="$level"
	for event; do
		quietly lttng --no-sessiond enable-event --session "$name" --userspace --channel own "nnburst:$event"
	done
	quietly lttng --no-sessiond start "$name"
}

# The writer of an event waits for room, so that none is lost.
patient='--blocking-timeout=inf --subbuf-size=1M --num-subbuf=8'
# Packets are written soon, so that most are there after a death; no writer waits for a dead consumer.
hasty='--subbuf-size=4K --num-subbuf=256'

# executions N: run that many, by four paths at once, on two lanes, which are too few.
executions()
{
	scenario many "{\"executions\": $(($1 / 5)), \"duration\": \"600s\", \"apps\": [
		{\"name\": \"one\", \"streams\": [{\"name\": \"burst\", \"model\": \"mlp\", \"priority\": \"high\", \"pools\": 3},
			{\"name\": \"blocking\", \"model\": \"mlp\", \"polling\": \"none\", \"fresh_pools\": 50}]},
		{\"name\": \"other\", \"streams\": [{\"name\": \"burst\", \"model\": \"mlp\", \"priority\": \"low\", \"burst_length\": 100},
			{\"name\": \"sync\", \"model\": \"mlp\", \"path\": \"sync\"},
			{\"name\": \"fenced\", \"model\": \"mlp\", \"path\": \"fenced\", \"threads\": 2}]}]}"
	by_channel "$patient" full DEBUG_FUNCTION
	by_channel "$patient" compact NOTICE exec_client exec_service
	start_service "$service" --lanes 2
	quietly "$load" --quiet --socket "$tmp/socket" --log "$tmp/log" "$tmp/many.json"
	stop_service || wrong 'nnburstd does not end well'
	end_session full
	end_session compact
	judge_both
	grep -E '^[0-9]+ executions: ' "$tmp/judged" || true
	rm -rf "$tmp/full" "$tmp/compact"
}

# The rest of a recording is readable and sound as far as it goes; or babeltrace2 gives a reason why not.
judge_rest()
{
	local status=0 how=--cut

	babeltrace2 --clock-cycles --no-delta "$tmp/full" >"$tmp/text" 2>"$tmp/said" || status=$?
	if ((status >= 124)); then
		wrong "$1 was killed: babeltrace2 ends with $status"
	elif ((status)); then
		[[ -s $tmp/said ]] || wrong "$1 was killed: babeltrace2 refuses the recording, and does not say why"
		echo "$1 was killed: refused: $(grep -m 1 -i error "$tmp/said" | cut -c1-150)"
	fi
	# What came before that was read. Events are missing where the consumer died, or was too slow for a busy machine.
	if [[ $1 == consumer ]] || grep -qi discarded "$tmp/said"; then
		how=--holes
	fi
	"$check" --full "$tmp/text" "$how" >"$tmp/judged" 2>&1 || { wrong "$1 was killed:"; cat "$tmp/judged"; }
	echo "$1 was killed: $(grep -E '^[0-9]+ executions: ' "$tmp/judged" || true)"
}

# a_child NAME PID: print a child of that process with that name.
a_child()
{
	local child all=()

	for child in $(cat "/proc/$2"/task/*/children 2>/dev/null); do
		[[ $(tr '\0' ' ' <"/proc/$child/cmdline") != *"$1"* ]] || all+=("$child")
	done
	echo "${all[RANDOM % (${#all[@]} ? ${#all[@]} : 1)]-}"
}

# killed VICTIM: kill the service, the app or the consumer at a random time of a run.
killed()
{
	local load_pid victim

	by_channel "$hasty" full DEBUG_FUNCTION
	start_service "$service" --lanes 1
	"$load" --quiet --socket "$tmp/socket" --duration 30s noisy-neighbour >"$tmp/report" 2>&1 &
	load_pid=$!
	until "$service" --status --socket "$tmp/socket" 2>/dev/null | grep -Eq '^bursts +[3-9]'; do sleep 0.02; done
	sleep "0.$(printf '%03d' $((RANDOM % 600)))"
	case $1 in
	service)
		victim=$daemon daemon=
		disown "$victim"
		;;
	app) victim=$(a_child nnburst-load "$load_pid") ;;
	consumer) victim=$(a_child consumerd "$sessiond") ;;
	esac
	[[ $victim ]] || { wrong "there is no $1 to kill"; victim=$load_pid; }
	kill -9 "$victim"
	[[ $1 != consumer ]] || sleep 0.2 # the others go on
	kill -INT "$load_pid" 2>/dev/null || true
	await_end "$load_pid" 'the load ends' || true
	stop_service || wrong "$1 was killed: nnburstd does not end well"
	if [[ $1 == consumer ]]; then # its session daemon cannot go on without it
		stop_sessiond
		start_sessiond
	else
		end_session full
	fi
	judge_rest "$1"
	rm -rf "$tmp/full"
}

start_sessiond
while ((many > 0)); do
	executions $((many < 100000 ? many : 100000))
	many=$((many - 100000))
done
while
	for victim in service app consumer; do killed "$victim"; done
	((SECONDS < seconds && failures == 0))
do :; done
((failures == 0)) || exit 1
