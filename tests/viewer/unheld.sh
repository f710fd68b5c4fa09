#!/usr/bin/env bash
# unheld.sh BURSTSCOPE TRACE_FROM_TEXT -- the verdict of starvation names the holder of the lane in the longest wait:
# another app, none, or unknown.
set -euo pipefail
burstscope=$1 trace_from_text=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
failures=0

# expect NAME HELD FREE WORDS [LINE]: hog has the lane for HELD, and camera gets it FREE later, with LINE in between;
# the reason must have WORDS.
expect()
{
	local said

	"$trace_from_text" "$1" <<-EOF
	1 service_state pid=9 lanes=1 instance=1
	+1 client_connect conn=0x100001 pid=1 uid=1 app=1 name=camera
	+1 model_prepare model=0x100001 conn=0x100001 name=net step_ns=1us
	+1 stream_open stream=0x100001 conn=0x100001 path=async model=0x100001
	+1 client_connect conn=0x100002 pid=2 uid=2 app=2 name=hog
	+1 model_prepare model=0x100002 conn=0x100002 name=long step_ns=1us
	+1 stream_open stream=0x100002 conn=0x100002 path=async model=0x100002
	+1 sched_enqueue exec=0x100002:1 model=0x100002 app=2 priority=low
	+1 sched_dispatch exec=0x100002:1 lane=0
	+1 sched_enqueue exec=0x100001:1 model=0x100001 app=1 priority=low
	+$2 exec_end exec=0x100002:1 lane=0 status=none
	${5-}
	+$3 sched_dispatch exec=0x100001:1 lane=0
	+1000 exec_end exec=0x100001:1 lane=0 status=none
	EOF
	"$burstscope" import -q -o "$1.db" "$1" || (($? == 3))
	said=$("$burstscope" starvation --threshold 1s "$1.db" || true)
	grep -q "^verdict: FAIL: .*$4" <<<"$said" && return
	echo "unheld.sh: $1: not said: $4"
	grep '^verdict' <<<"$said" || true
	failures=$((failures + 1))
}

expect held 2500ms 500ms 'the lane was held mostly by hog'
expect idle 500ms 2500ms 'the lane was empty for 83 % of that time'
expect unknown 500ms 2400ms 'it is unknown who held the lane for 83 % of that time' '+100ms loss ended=3s events=5 cpu=1'
((failures == 0))
