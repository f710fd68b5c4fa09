#!/usr/bin/env bash
# probation.sh BURSTSCOPE TRACE_FROM_TEXT -- choices between priorities, and inversions, while the app was on probation: they are
# not counted, right or wrong, and priority and check state how many there were. Where they are most of the app's choices,
# the verdict is that it cannot tell. A single stall is no probation.
set -euo pipefail
burstscope=$1 trace_from_text=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
failures=0

# stall NTH: the app's urgent execution NTH loses its lane to 2:1, which waits, and ends without another.
stall()
{
	cat <<-EOF
	+1ms sched_enqueue exec=0x100001:$1 model=0x100001 app=1 priority=high
	+1 sched_dispatch exec=0x100001:$1 lane=0
	+1 sched_enqueue exec=0x100002:$1 model=0x100002 app=1 priority=low
	+1 sched_preempt exec=0x100001:$1 by=0x100002:$1 lane=0 at_op=1 mode=stalled asked_ns=0
	+1 sched_dispatch exec=0x100002:$1 lane=0
	+1ms exec_end exec=0x100002:$1 lane=0 status=none
	+1 exec_end exec=0x100001:$1 lane=0 status=none
	EOF
}

# passed_over NTH: the urgent execution NTH waits, and the lane goes to a less urgent one.
passed_over()
{
	cat <<-EOF
	+1 sched_enqueue exec=0x100002:$1 model=0x100002 app=1 priority=low
	+1 sched_dispatch exec=0x100002:$1 lane=0
	+1 sched_enqueue exec=0x100001:$1 model=0x100001 app=1 priority=high
	+1 sched_enqueue exec=0x100003:$1 model=0x100002 app=1 priority=low
	+1 exec_end exec=0x100002:$1 lane=0 status=none
	+1 sched_dispatch exec=0x100003:$1 lane=0
	+1 exec_end exec=0x100003:$1 lane=0 status=none
	+1 sched_dispatch exec=0x100001:$1 lane=0
	+1 exec_end exec=0x100001:$1 lane=0 status=none
	EOF
}

# went_first NTH: the lane goes to an urgent execution, and a less urgent one waits.
went_first()
{
	cat <<-EOF
	+1 sched_enqueue exec=0x100002:$1 model=0x100002 app=1 priority=low
	+1 sched_dispatch exec=0x100002:$1 lane=0
	+1 sched_enqueue exec=0x100003:$1 model=0x100002 app=1 priority=low
	+1 sched_enqueue exec=0x100001:$1 model=0x100001 app=1 priority=high
	+1 exec_end exec=0x100002:$1 lane=0 status=none
	+1 sched_dispatch exec=0x100001:$1 lane=0
	+1 exec_end exec=0x100001:$1 lane=0 status=none
	+1 sched_dispatch exec=0x100003:$1 lane=0
	+1 exec_end exec=0x100003:$1 lane=0 status=none
	EOF
}

# went_first_each FROM TO
went_first_each()
{
	local i

	for ((i = $1; i <= $2; i++)); do
		went_first $i
	done
}

# outcome NAME OUTCOME: of the verdict on choices, by priority and by check.
outcome()
{
	local said

	said=$("$burstscope" priority --verdict "$1.db" | sed -n 's/^ *\([a-z ]*\): honoured[ :].*/\1/p') || true
	[[ $said == "$2" ]] || { echo "probation.sh: $1: the verdict is '$said', not '$2'"; return 1; }
	echo 'priority honoured >= 99 %' >rules.slo
	"$burstscope" check --slo rules.slo "$1.db" >check || true
	tr -s ' \n' ' ' <check | grep -q 'on probation' || { echo "probation.sh: $1: check states no probation:"; cat check; return 1; }
}

# expect NAME COUNTED LEFT_OUT: of the recording of that name, whose other lines are on standard input.
expect()
{
	local said failures=0

	{
		cat <<-EOF
		1 service_state pid=9 lanes=1 instance=1 contract=3
		+1 client_connect conn=0x100001 pid=1 uid=1 app=1 name=camera
		+1 model_prepare model=0x100001 conn=0x100001 name=faces priority=high step_ns=1us
		+1 model_prepare model=0x100002 conn=0x100001 name=pages priority=low step_ns=1us
		+1 stream_open stream=0x100001 conn=0x100001 path=async model=0x100001
		+1 stream_open stream=0x100002 conn=0x100001 path=async model=0x100002
		+1 stream_open stream=0x100003 conn=0x100001 path=async model=0x100002
		EOF
		cat
	} | "$trace_from_text" "$1"
	"$burstscope" import -q -o "$1.db" "$1" || (($? == 3))
	said=$("$burstscope" priority --part choices --format csv "$1.db" | awk -F, 'NR > 1 { n += $2 - $3 } END { print n + 0 }')
	((said == $2)) || { echo "probation.sh: $1: $said choices were not honoured, not $2"; failures=$((failures + 1)); }
	said=$("$burstscope" priority "$1.db" | grep -oE '[0-9]+ choices? (was|were) made while the app was on probation' | awk '{ print $1 }') || true
	[[ ${said:-0} == "$3" ]] || { echo "probation.sh: $1: ${said:-0} choices are left out, not $3"; failures=$((failures + 1)); }
	((failures == 0))
}

{ passed_over 1; } | expect none 1 0 || failures=1
{ stall 1; passed_over 2; } | expect single 1 0 || failures=1
{ stall 1; stall 2; passed_over 3; } | expect twice 0 1 || failures=1
{ stall 1; stall 2; passed_over 3; echo '+1100ms op_end exec=0x100001:9 op=1'; passed_over 4; } | expect over 1 1 || failures=1
{ stall 1; echo '+1100ms op_end exec=0x100001:9 op=1'; stall 2; passed_over 3; } | expect apart 1 0 || failures=1
{ stall 1; stall 2; went_first 3; } | expect right 0 1 || failures=1
# 98 right choices before and one during a probation: too few. 100 right ones are enough; more on probation than that are not.
{ went_first_each 1 98; stall 99; stall 100; went_first 101; } | expect few 0 1 || failures=1
outcome few 'cannot tell' || failures=1
{ went_first_each 1 100; stall 101; stall 102; went_first 103; passed_over 104; } | expect enough 0 2 || failures=1
outcome enough pass || failures=1
{ went_first_each 1 100; stall 101; stall 102; went_first_each 103 203; passed_over 204; } | expect most 0 102 || failures=1
outcome most 'cannot tell' || failures=1

# inverted NTH: the urgent execution NTH waits 9 ms for a less urgent one on the lane.
inverted()
{
	cat <<-EOF
	+1 sched_enqueue exec=0x100002:$1 model=0x100002 app=1 priority=low
	+1 sched_dispatch exec=0x100002:$1 lane=0
	+1 sched_enqueue exec=0x100001:$1 model=0x100001 app=1 priority=high
	+9ms exec_end exec=0x100002:$1 lane=0 status=none cpu_ns=9000000
	+1 sched_dispatch exec=0x100001:$1 lane=0
	+1 exec_end exec=0x100001:$1 lane=0 status=none
	EOF
}

# inversions NAME OUTCOME SHOWN LEFT_OUT: of that recording, the verdict on inversions, and how many are shown and left out.
inversions()
{
	local said found

	said=$("$burstscope" priority --verdict "$1.db" | sed -n 's/^.*\(pass\|FAIL\|cannot tell\): inversion.*/\1/p') || true
	[[ $said == "$2" ]] || { echo "probation.sh: $1: the verdict is '$said', not '$2'"; "$burstscope" priority --verdict "$1.db"; return 1; }
	said=$("$burstscope" priority --part worst --format csv "$1.db" | awk 'NR > 1' | wc -l)
	((said == $3)) || { echo "probation.sh: $1: $said inversions are shown, not $3"; return 1; }
	said=$("$burstscope" priority "$1.db" | grep -oE '[0-9]+ inversions? (was|were) while the app was on probation' | awk '{ print $1 }') || true
	[[ ${said:-0} == "$4" ]] || { echo "probation.sh: $1: ${said:-0} inversions are left out, not $4"; return 1; }
	found=$("$burstscope" summary --format json "$1.db" | grep -c '"finding":"inversion"') || true
	(((found > 0) == ($3 > 0))) || { echo "probation.sh: $1: summary has $found findings of inversion"; return 1; }
}

{ inverted 1; } | expect inv_none 0 0 && inversions inv_none FAIL 1 0 || failures=1
{ stall 1; stall 2; inverted 3; } | expect inv_twice 0 0 && inversions inv_twice 'cannot tell' 0 1 || failures=1
{ stall 1; stall 2; inverted 3; echo '+1100ms op_end exec=0x100001:9 op=1'; inverted 4; } | expect inv_both 0 0 && inversions inv_both FAIL 1 1 || failures=1
((failures == 0))
