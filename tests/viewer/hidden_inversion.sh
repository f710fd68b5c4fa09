#!/usr/bin/env bash
# hidden_inversion.sh BURSTSCOPE TRACE_FROM_TEXT -- the inversion verdict next to a hole: the hole can hide an
# inversion only of work that is more urgent than a possible holder of the lane, and no execution inverts itself.
set -euo pipefail
burstscope=$1 trace_from_text=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"

# recorded NAME WAITING LATER: an execution of low priority has the only lane for 5 ms, and WAITING waits behind it; 2
# ms of that are lost.
recorded()
{
	"$trace_from_text" -e full -o 1700000000000000000 "$1" <<-EOF
	usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us
	0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1
	0 client_connect conn=1 pid=11 uid=1001 app=1 name=red
	0 model_prepare model=1 conn=1 name=urgent priority=high ops=10 estimate_ns=100us step_ns=10us
	0 model_prepare model=4 conn=1 name=lazy priority=low ops=10 estimate_ns=100us step_ns=10us
	0 stream_open stream=1 conn=1 path=burst model=1
	0 stream_open stream=4 conn=1 path=burst model=4
	0 stream_open stream=5 conn=1 path=burst model=4
	1ms 1:1 x5 every=1ms
	2s 4:1 run=5ms
	2s+500us $2 queue=4600us
	lose 2s+1ms 2s+3ms
	3s $3
	EOF
	"$burstscope" import -q -o "$1.db" "$1"
	# as where the service numbers its executions, and no number is missing
	sqlite3 "$1.db" "UPDATE meta SET value = 0 WHERE key = 'unseen_unknown'"
}
failures=0
# expect NAME VERDICT WHY
expect()
{
	"$burstscope" priority --verdict "$1.db" >said 2>&1 || true
	grep -q "^  $2: inversion" said && return
	echo "hidden_inversion.sh: $3: not $2"
	grep 'inversion ' said || true
	failures=$((failures + 1))
}
recorded low 5:1 1:6
recorded high 1:6 1:7
expect low pass 'who waits is no more urgent than who has the lane'
expect high 'cannot tell' 'urgent work may have waited behind work of its app that is less urgent'
exit "$failures"
