#!/usr/bin/env bash
# stops.sh BURSTSCOPE SERVICE LOAD LATE_NEWS -- each time for which a session was stopped beside a busy service is a hole:
# sessions of several kinds are stopped and started at random, by a service that hears of that at once, and by one that
# hears of it late. NNB_STOPS: number of stops of each session.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
command -v sqlite3 >/dev/null || { echo 'skipped: no sqlite3'; exit 77; }
burstscope=$1 service=$2 load=$3 late_news=$4
stops=${NNB_STOPS:-4}
seed=${NNB_SEED:-$$}
RANDOM=$seed

full=('nnburst:*' --loglevel=DEBUG_FUNCTION)
compact=('nnburst:*' --loglevel=NOTICE)
declare -A channels=(
	[plain]='--subbuf-size=1M --num-subbuf=8'
	[small]='--subbuf-size=16k --num-subbuf=128'
	[timed]='--subbuf-size=64k --num-subbuf=32 --switch-timer=20000'
	[compact]='--subbuf-size=64k --num-subbuf=32 --switch-timer=20000'
)

# begin NAME: begin to record.
begin()
{
	local -a options

	read -ra options <<<"${channels[$1]}"
	quietly lttng --no-sessiond create "$1" --output="$tmp/$1"
	quietly lttng --no-sessiond enable-channel --session "$1" --userspace "${options[@]}" all
	if [[ $1 == compact ]]; then
		quietly lttng --no-sessiond enable-event --session "$1" --userspace --channel all "${compact[@]}"
		quietly lttng --no-sessiond enable-event --session "$1" --userspace --channel all nnburst:exec_client,nnburst:exec_service
	else
		quietly lttng --no-sessiond enable-event --session "$1" --userspace --channel all "${full[@]}"
	fi
	quietly lttng --no-sessiond start "$1"
	: >"$tmp/$1.stops"
}

# wait_a_while MS: wait for up to that time.
wait_a_while() { sleep "0.$(printf %03d $((RANDOM % $1)))"; }

# stop_and_start NAME: stop the session for a while, and log in ns when it was stopped for certain.
stop_and_start()
{
	local stopped

	quietly lttng --no-sessiond stop "$1"
	stopped=${EPOCHREALTIME/[.,]/}000
	wait_a_while 100
	echo "$stopped ${EPOCHREALTIME/[.,]/}000" >>"$tmp/$1.stops"
	quietly lttng --no-sessiond start "$1"
}

# judge NAME: of each time for which the session was stopped, the database must have a loss.
judge()
{
	local unseen

	"$burstscope" import -q -o "$tmp/$1.db" "$tmp/$1" >"$tmp/said" 2>&1 || wrong "$1: $(<"$tmp/said")"
	unseen=$(sqlite3 "$tmp/$1.db" 'CREATE TEMP TABLE stop(began INTEGER, ended INTEGER)' '.mode list' '.separator " "' ".import '$tmp/$1.stops' stop" \
		'SELECT group_concat(rowid) FROM stop s WHERE NOT EXISTS (SELECT 1 FROM loss WHERE began <= s.began AND ended >= s.ended)')
	[[ ! $unseen ]] || wrong "$1 of seed $seed: no hole where it was stopped: ${unseen//,/, } of $(wc -l <"$tmp/$1.stops")"
}

# record_stops PRELOADED SESSION...: record a service that is busy, and stop and start the sessions.
record_stops()
{
	local preloaded=$1 name
	shift

	for name; do begin "$name"; done
	LD_PRELOAD=$preloaded start_service "$service"
	"$load" --quiet --socket "$tmp/socket" --duration 60s noisy-neighbour >"$tmp/report" 2>&1 &
	load_pid=$!
	goes_on "$service"
	for ((n = 0; n < stops; n++)); do
		for name; do
			stop_and_start "$name"
			wait_a_while 100
		done
	done
	goes_on "$service"
	end_load
	stop_service
	for name; do end_session "$name"; done
	for name; do
		judge "$name"
		rm -r "$tmp/$name" "$tmp/$name.db"
	done
}

start_sessiond
record_stops '' "${!channels[@]}"
record_stops "$late_news" plain # the service emits its state for other sessions, too
exit $((failures > 0))
