#!/usr/bin/env bash
# record_shared.sh BURSTSCOPE SERVICE MANY_STREAMS PROVIDER -- all burstscope processes share the session daemon that
# one of them starts. It ends with the last of them, in any order and by any end, but not while another program has a
# session or a trigger there; as root and as a user.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
burstscope=$1 many=$3 provider=$4
declare -A recorders=()
as=() # the prefix of each command
trap 'stop_jobs; kill $(noted) 2>/dev/null || true; stop_sessiond; rm -rf "$tmp"' EXIT
mkdir -m 777 "$tmp/work"
chmod 755 "$tmp"
cd "$tmp/work"

# keepers: print those of this script; other tests have their own.
keepers()
{
	local pid
	for pid in $(pgrep -x burstscope-keep || true); do
		! grep -zqx "LTTNG_HOME=$LTTNG_HOME" "/proc/$pid/environ" 2>/dev/null || echo "$pid"
	done
}

# noted: print the session daemons that burstscope started last.
noted() { cut -d ' ' -f 1 /var/run/lttng/burstscope.lock "$tmp"{,/home}/.lttng/burstscope.lock 2>/dev/null || true; }

there() { timeout 20 "${as[@]}" lttng --no-sessiond list >/dev/null 2>&1; }
sessions() { timeout 20 lttng --no-sessiond list | grep -c 'burstscope-record-' || true; }
emits() { quietly "${as[@]}" "$many" "$provider" "$1"; }

# begins NAME: start a recording in the background.
begins()
{
	: >"$1.said"
	env --default-signal=INT "${as[@]}" "$burstscope" record --no-import -o "$1" >/dev/null 2>"$1.said" &
	recorders[$1]=$!
	awaits "grep -q '^recording into' $1.said || ! kill -0 ${recorders[$1]}" "$1 begins"
	grep -q '^recording into' "$1.said" || wrong "$1 does not begin: $(<"$1.said")"
}

# ends NAME: end it as Ctrl-C does; it must end well.
ends()
{
	local status=0
	kill -INT "${recorders[$1]}" 2>/dev/null || true # if it has ended already, its status is wrong
	await_end "${recorders[$1]}" "$1 ends" || status=$?
	unset "recorders[$1]"
	((status == 0)) || wrong "${BASH_LINENO[0]}: $1 ends with $status: $(<"$1.said")"
}

killed()
{
	kill -9 "${recorders[$1]}"
	await_end "${recorders[$1]}" "$1 is killed" 2>/dev/null || true
	unset "recorders[$1]"
}

# has NAME EVENTS: the recording must have that many events.
has()
{
	local n
	n=$(babeltrace2 "$1" | wc -l)
	((n == $2)) || wrong "${BASH_LINENO[0]}: $1 has $n events, not $2: $(<"$1.said")"
}

# nothing_left: wait for the keeper, which ends just after the last record has waited for the daemon's end.
nothing_left()
{
	! there || wrong "${BASH_LINENO[0]}: the session daemon is left"
	awaits '[[ ! $(keepers) ]]' 'the keeper ends'
}

! there || wrong 'there is a session daemon'

# ---- killed: the starter and the keeper, which the next process to leave replaces; then all, and the next one starts
# a keeper ----

begins started
grep -q '^lttng-sessiond: none was there' started.said || wrong "who started the session daemon? $(<started.said)"
begins joined
[[ $(keepers | wc -l) == 1 ]] || wrong "the keepers are: $(keepers)"
kill -9 $(keepers)
killed started
emits 100
ends joined
has joined 303
nothing_left

begins lost
kill -9 $(keepers)
killed lost
there || wrong 'without a keeper the session daemon ends'
begins next
emits 10
ends next
! grep -q '^lttng-sessiond: none was there' next.said || wrong "another session daemon was started: $(<next.said)"
nothing_left

# ---- killed while others record: its session ends, its recording stays, and the others lose no event ----

begins living
begins victim
emits 10
killed victim
awaits '(($(sessions) == 1))' 'the session of a recording that was killed ends while another one records'
emits 10
ends living
has living 66
has victim 33
"$burstscope" import -o victim.db victim >import.said 2>&1 || wrong "what one that was killed recorded: $(<import.said)"
grep -q ' 33 events' import.said || wrong "of one that was killed, another number of events is imported: $(<import.said)"
nothing_left

# ---- without standard descriptors: the first files that it opens must not get their numbers ----

status=0
"$burstscope" record --no-import -o closed -- "$many" "$provider" 10 <&- >&- 2>&- || status=$?
((status == 0)) || wrong "with closed descriptors it ends with $status"
: >closed.said
has closed 33
nothing_left
[[ $(stat -c %s /var/run/lttng/burstscope.lock "$tmp/.lttng/burstscope.lock" 2>/dev/null || true) == 80 ]] || wrong "what was written into the file of the lock?"

# ---- where the daemon cannot be shared ----

lock=$tmp/.lttng/burstscope.lock
((EUID)) || lock=/var/run/lttng/burstscope.lock
mv "$lock" "$lock.kept"
mkdir "$lock"
begins lonely
grep -q 'it ends with this command, even while other burstscope commands use it' lonely.said || wrong "record did not say that it cannot open the lock: $(<lonely.said)"
emits 10
ends lonely
nothing_left
rmdir "$lock"
mv "$lock.kept" "$lock"

# ---- another program uses the daemon ----

begins ours
quietly lttng --no-sessiond create theirs --output="$tmp/theirs"
quietly lttng --no-sessiond add-trigger --name=theirs --condition=event-rule-matches --type=user --name='nnburst:*' --action=notify
emits 10
ends ours
there || wrong 'the session daemon has ended under the session of another program'
quietly lttng --no-sessiond destroy theirs
sleep 1.5 # longer than a keeper waits before it asks again
there || wrong 'the session daemon has ended under the trigger of another program'
quietly lttng --no-sessiond remove-trigger theirs
awaits '! there' 'the session daemon ends with its last user'
nothing_left

# ---- a user, and the first one ends first ----

mkdir -m 700 "$tmp/home"
export LTTNG_HOME=$tmp/home
if ((EUID == 0)) && command -v setpriv >/dev/null; then
	chown 1234:1234 "$tmp/home"
	as=(setpriv --reuid 1234 --regid 1234 --clear-groups)
fi
begins first
begins second
emits 10
ends first
emits 100
ends second
has second 336
nothing_left
if [[ ${as[*]} ]]; then
	[[ $(stat -c '%u %a' "$tmp/home/.lttng/burstscope.lock") == '1234 600' ]] || wrong "its file: $(ls -la "$tmp/home/.lttng")"
fi

((failures == 0))
