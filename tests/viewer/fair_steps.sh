#!/usr/bin/env bash
# fair_steps.sh BURSTSCOPE TRACE_FROM_TEXT -- the step bound of the fairness verdict: the longest step of the models
# that had a lane, but no longer than the model's runs allow, because a busy machine prolongs a trial run. Ideal
# sharing is unknown where it depends on a step that was not recorded.
set -euo pipefail
burstscope=$1 trace_from_text=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"

# rounds: 40 times meek's run of 250 us waits behind two of hog's, of 1 ms each.
rounds()
{
	local i
	for ((i = 1; i <= 40; i++)); do
		echo "$((i * 20000))us 2:$i run=1ms"
		echo "$((i * 20000 + 20))us 3:$i queue=1ms run=1ms"
		echo "$((i * 20000 + 40))us 1:$i queue=2ms run=250us"
		echo "$((i * 20000 + 50))us 4:$i deadline=1ms dies=slots"
	done
}

# recorded NAME HOG [AGAIN]: record with HOG as the service's event of hog's model, and AGAIN as that for another
# session after the last run. A third app asks for a model with a step of a second, and is refused each time.
recorded()
{
	{
		cat <<-EOF
		usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us
		0 service_state pid=100 policy=fifo preempt_mode=none lanes=1 contract=1 deadlines=abort
		0 client_connect conn=1 pid=11 uid=1001 app=1 name=meek
		0 client_connect conn=2 pid=12 uid=1002 app=2 name=hog
		0 client_connect conn=3 pid=13 uid=1003 app=3 name=never
		0 model_prepare model=1 conn=1 name=short priority=medium ops=10 estimate_ns=250us step_ns=25us
		10 model_prepare model=2 conn=2 name=long priority=medium ops=10 $2
		10 model_prepare model=3 conn=3 name=huge priority=medium ops=10 estimate_ns=2s step_ns=1s
		10 stream_open stream=1 conn=1 path=burst model=1
		10 stream_open stream=2 conn=2 path=burst model=2
		10 stream_open stream=3 conn=2 path=burst model=2
		10 stream_open stream=4 conn=3 path=burst model=3
		EOF
		rounds
		if [ $# = 3 ]; then
			echo "900ms model_prepare model=2 conn=2 name=long priority=medium ops=10 $3"
		fi
	} | "$trace_from_text" -e full -o 1700000000000000000 "$1"
	"$burstscope" import -q -o "$1.db" "$1"
}

# unseen NAME PREEMPT [MISSED]: 40 times a run of meek and then one of hog, neither of which waits. The preparation of
# hog's model was not recorded.
unseen()
{
	local i
	{
		cat <<-EOF
		usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us
		0 service_state pid=100 policy=fair preempt_mode=$2 lanes=1 contract=1 deadlines=refuse
		0 client_connect conn=1 pid=11 uid=1001 app=1 name=meek
		0 client_connect conn=2 pid=12 uid=1002 app=2 name=hog
		0 model_prepare model=1 conn=1 name=short priority=medium ops=10 estimate_ns=250us step_ns=25us
		10 stream_open stream=1 conn=1 path=burst model=1
		10 stream_open stream=2 conn=2 path=burst model=2
		EOF
		for ((i = 1; i <= 40; i++)); do
			echo "$((i * 20000))us 1:$i run=250us"
			echo "$((i * 20000 + 5000))us 2:$i run=1ms"
		done
		if [ $# = 3 ]; then
			echo "900ms 1:41 deadline=1ms dies=slots"
		fi
	} | "$trace_from_text" -e full -o 1700000000000000000 "$1"
	"$burstscope" import -q -o "$1.db" "$1"
}

failures=0
# expect NAME OUTCOME SAYS WHY
expect()
{
	"$burstscope" fairness --verdict "$1.db" >said 2>&1 || true
	grep -q "^verdict: $2: .*$3" said && return
	echo "fair_steps.sh: $4: not $2, $3"
	grep '^verdict' said || true
	failures=$((failures + 1))
}
recorded quiet 'estimate_ns=1ms step_ns=100us'
recorded part 'estimate_ns=10ms step_ns=2ms'
recorded capped 'estimate_ns=2ms step_ns=50ms'
recorded unmeasured ''
recorded before 'estimate_ns=5ms step_ns=1ms since=5'
recorded again 'estimate_ns=1ms step_ns=1ms' 'estimate_ns=5ms step_ns=1ms since=10'
recorded faster 'estimate_ns=10ms step_ns=2ms' 'estimate_ns=1ms step_ns=2ms since=10'
expect quiet FAIL '25 % and 0.200 ms more' 'the step as measured'
expect part FAIL '25 % and 0.400 ms more' 'a fifth of the estimate is a fifth of the median run'
expect capped pass '25 % and 2.000 ms more' 'no step is longer than the median run'
expect unmeasured pass '25 % and 2.000 ms more' 'the median run, where nothing was measured'
expect before pass '25 % and 2.000 ms more' 'a model that was prepared before the recording: the estimate is of later runs, and the step no part of it'
expect again pass '25 % and 2.000 ms more' 'an estimate that the service learned later says nothing about the step'
expect faster FAIL '25 % and 0.400 ms more' 'of a model that is told again, what it was when it was prepared counts'
unseen kept none
unseen stopped save
unseen missed none missed
expect kept pass 'no app' 'a step that was not recorded, of a service that stops nothing'
expect stopped 'cannot tell' 'checkpoints' 'a step that was not recorded, of a service that stops what runs'
expect missed 'cannot tell' 'checkpoints' 'an estimate that was not recorded, where a deadline was missed'
exit "$failures"
