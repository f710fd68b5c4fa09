#!/usr/bin/env bash
# native_sleep.sh BURSTSCOPE TRACE_FROM_TEXT -- an app of a service with policy native that got much less than its share is
# wronged only where its executions waited for a cpu. Where they slept, as for pages of their own app, the verdict of fairness
# is that it cannot tell. The service began before its recording. Nor does an execution of it wait for a lane.
set -euo pipefail
burstscope=$1 trace_from_text=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
failures=0

# expect NAME DELAY WORDS: each execution of meek takes 10 ms, has a cpu for 1 ms of it, and waits for one for DELAY. Meanwhile
# hog has a cpu.
expect()
{
	local i said

	{
		cat <<-EOF
		usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us
		0 service_state pid=100 policy=native preempt_mode=none lanes=2 contract=3 deadlines=abort since=1
		0 client_connect conn=1 pid=11 uid=1001 app=1 name=meek
		0 client_connect conn=2 pid=12 uid=1002 app=2 name=hog
		0 model_prepare model=1 conn=1 name=short priority=medium ops=10 estimate_ns=1ms step_ns=25us
		0 model_prepare model=2 conn=2 name=long priority=medium ops=10 estimate_ns=10ms step_ns=25us
		10 stream_open stream=1 conn=1 path=burst model=1
		10 stream_open stream=2 conn=2 path=burst model=2
		EOF
		for ((i = 1; i <= 40; i++)); do
			echo "$((i * 20))ms 1:$i lane=254 run=10ms cpu=1ms run_delay=$2 decode_delay=0 reply_delay=0"
			echo "$((i * 20))ms 2:$i lane=254 run=10ms cpu=10ms run_delay=0 decode_delay=0 reply_delay=0"
		done
	} | "$trace_from_text" -e full -o 1700000000000000000 "$1"
	"$burstscope" import -q -o "$1.db" "$1" || (($? == 3))
	said=$("$burstscope" fairness "$1.db" || true)
	grep -q "^verdict: $3" <<<"$said" && return
	echo "native_sleep.sh: $1: not said: $3"
	grep '^verdict' <<<"$said" || true
	failures=$((failures + 1))
}

expect slept 0 'cannot tell: meek got .* had not asked for one for up to 3.* ms'
expect waited 9ms 'FAIL: .*meek got'
# 6 ms without the sleep, of which fair sharing gives it less than half
expect both 5ms 'FAIL: .*meek got'
# Each sleep ends by a wait for a cpu: of an app that slept for half of its work, more than the sleep may be its own doing.
expect mostly 3ms 'cannot tell: meek got'

# Nor has that service lanes to wait for: an execution that was not begun for 2 s had no cpu.
"$trace_from_text" queue <<-EOF
1 service_state pid=9 policy=native lanes=1 instance=1
+1 client_connect conn=0x100001 pid=1 uid=1 app=1 name=camera
+1 model_prepare model=0x100001 conn=0x100001 name=net step_ns=1us
+1 stream_open stream=0x100001 conn=0x100001 path=async model=0x100001
+1 sched_enqueue exec=0x100001:1 model=0x100001 app=1 priority=low
+2s sched_dispatch exec=0x100001:1 lane=254
+1000 exec_end exec=0x100001:1 lane=254 status=none
EOF
"$burstscope" import -q -o queue.db queue || (($? == 3))
for threshold in '' '--threshold=1s'; do
	said=$("$burstscope" starvation $threshold queue.db || true)
	grep -q '^verdict: cannot tell: policy native has no lanes' <<<"$said" && continue
	echo "native_sleep.sh: queue $threshold: $said"
	failures=$((failures + 1))
done
if "$burstscope" summary --format json queue.db | grep '"finding":"starvation"'; then
	echo 'native_sleep.sh: queue: starvation was found'
	failures=$((failures + 1))
fi
((failures == 0))
