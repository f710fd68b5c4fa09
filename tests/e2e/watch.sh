#!/usr/bin/env bash
# watch.sh BURSTSCOPE SERVICE LOAD JSON_SCHEMA SCHEMA -- burstscope watch, live: each condition fires on its defect,
# and the first line of the case is the right diagnosis. A repeated cause is counted; the store of cases is bounded.
# Whatever is killed at any time, cases stay and no other trace of watch is left.
set -euo pipefail
burstscope=$1 service=$2 load=$3 json_schema=$4 schema=$5
. "$(dirname "$0")/../watching.sh"

# ---- refusals ----

: >out
refuses 2 '--on is missing'
refuses 2 '--on miss is there twice' --on miss --on death --on miss
refuses 2 "no condition 'mis'; did you mean 'miss'?" --on mis
refuses 2 "no kind of miss 'presistent'; did you mean 'persistent'?" --on miss:presistent
refuses 2 'death has no status' --on death:status=DEAD_OBJECT
refuses 2 "no cause 'hoged'; did you mean 'hogged'?" --on miss:cause=hoged
refuses 2 'longer than what? Write starvation>100ms' --on starvation
refuses 2 "expected a time as in '5ms'" --on 'p99 e2e <= 5'
refuses 2 'cannot be held against the last seconds' --on 'coverage >= 99 %'
refuses 2 '--window: write 1s to 10min' --on 'p99 e2e <= 5ms' --window 10ms
refuses 2 '--before: write 100ms to 1h' --on miss --before 1ms
refuses 5 'cannot be made' --on miss -o no/such/directory
mkdir -m 1777 anybodys
refuses 5 'can be written by all users' --on miss -o anybodys
if ((EUID == 0 || $(id -g) != EUID)); then
	mkdir shared.cases && chmod 2775 shared.cases
	refuses 5 'can be written by its group' --on miss -o shared.cases
fi
if ((EUID == 0)); then
	mkdir theirs.cases && chown 1234 theirs.cases
	refuses 5 'belongs to another user' --on miss -o theirs.cases
fi
LTTNG_SESSIOND_PATH=/no/lttng-sessiond refuses 5 'does not start' -q --on miss -o cases
forget

# ---- a user without the right to write there, to use the running session daemon, or to start one ----

# may_not WORDS COMMAND...: it must end with 5 and one line with WORDS, and leave no file.
may_not()
{
	local words=$1 status=0
	shift
	said=$(env -C / -u LTTNG_HOME -u XDG_RUNTIME_DIR HOME="$tmp/theirs" setpriv --reuid 1234 --regid 1234 --clear-groups "$tmp/bin/burstscope" "$@" 2>&1) || status=$?
	((status == 5)) || wrong "${BASH_LINENO[0]}: $* ends with $status, not 5"
	says "$words"
	[[ $said != *$'\n'* ]] || wrong "${BASH_LINENO[0]}: $*: not one line: $said"
	[[ ! $(find "$tmp/theirs" /dev/shm -name 'burstscope-probe-*' -o -name '*.half') ]] || wrong "${BASH_LINENO[0]}: $* leaves something"
}

start_sessiond
if ((EUID == 0)) && command -v setpriv >/dev/null; then
	mkdir -m 755 "$tmp/theirs" "$tmp/bin"
	mkdir "$tmp/theirs/own"
	chown 1234 "$tmp/theirs/own"
	cp "$burstscope" "$(dirname "$burstscope")/burstscope-importer" "$tmp/bin"
	chmod 711 "$tmp"
	may_not 'theirs/cases cannot be made: Permission denied' watch --on miss -o "$tmp/theirs/cases"
	may_not 'lttng-sessiond does not start: ' watch --on miss -o "$tmp/theirs/own/cases"
	may_not 'lttng-sessiond does not start: ' watch --on 'miss ratio <= 1 %' -o "$tmp/theirs/own/cases"
	may_not 'lttng-sessiond does not start: ' top --once
	may_not 'leave out the name of the session to record in a new one' top somebodys
	chmod 755 "$tmp"
fi

# ---- each condition, on its defect ----

start_service "$service" --lanes 1 --policy fifo
watches "$burstscope" --on miss --on error --on death --before 2s --after 200ms --cooldown 1h \
	--exec 'printf "%s\n" "$BURSTSCOPE_FINDING" >>hooks; test -s "$BURSTSCOPE_CASE/report.html" || echo no page >>hooks'
said=$(<err)
says "nothing is written until one fires: miss, error, death"
grep -Eq '^(the buffers last about [0-9.]+ |how long the buffers last is not known, because no program emitted events)' err || wrong "not said how long the buffers last: $said"
refuses 5 'another burstscope watch' --on miss -o cases
said=$("$burstscope" cases cases 2>&1) || wrong "cases of none: $said"
# The watcher writes to a journal, which reads the priority of a line from its beginning; and to the system's log,
# which is a socket in a /dev of its own.
with_log=() syslog=
if ((EUID == 0)); then
	mkdir "$tmp/dev"
	mount -t tmpfs own "$tmp/dev"
	mkdir "$tmp/dev/shm"
	mount --rbind /dev/shm "$tmp/dev/shm"
	for node in null zero urandom; do
		: >"$tmp/dev/$node"
		mount --bind "/dev/$node" "$tmp/dev/$node"
	done
	python3 - "$tmp/dev/log" >logged <<-'PYTHON' &
		import socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind(sys.argv[1])
		s.settimeout(120)
		print(s.recv(65536).decode(), flush=True)
	PYTHON
	logger=$!
	awaits '[[ -S $tmp/dev/log ]]' "a system's log"
	syslog=--syslog
	with_log=(unshare --mount sh -c 'mount --rbind "$0" /dev && exec "$@"' "$tmp/dev")
fi
JOURNAL_STREAM=1:2 "${with_log[@]}" "$burstscope" watch $syslog -q --on miss:app=impossible,persistent -o others --before 1s --after 100ms --stop-after 1 >others.out 2>&1 &
apps=$! # a second watcher, with a directory of its own
awaits '(($(lttng --no-sessiond list-triggers | grep -c "name: burstscope-") == 6))' 'two watchers at once'

other=$apps
"$load" --quiet --socket "$tmp/socket" --duration 60s too-big >load.out 2>&1 &
apps=$!
await_end "$other" 'another watcher ends with its case' || wrong "another watcher ends with $?: $(<others.out)"
grep -q "^<4>impossible.s mobilenet-640 missed .* because its run alone is longer than its budget" others.out || wrong "another watcher says: $(<others.out)"
if ((EUID == 0)); then
	await_end "$logger" "the system's log has its line" || true
	grep -q "^<12>.* burstscope: impossible.s mobilenet-640 missed .* because its run alone is longer than its budget.* \[$PWD/others/" logged || wrong "the system's log: $(<logged)"
	umount -R "$tmp/dev"
fi
awaits 'grep -q "^impossible.s mobilenet-640 missed .* deadlines.* because its run alone is longer than its budget.* answered as impossible (persistent)" out' 'a miss that is too big'
awaits "grep -l '\"again\": [1-9]' cases/*/case.json >seen 2>&1" 'the same cause is counted'

"$load" --quiet --socket "$tmp/socket" --duration 20s audio >load.out 2>&1 &
apps=$!
bursting
kill -9 "$victim"
awaits "grep -Eq '^[a-z+-]+ \(pid $victim\) died: its connection ended without a goodbye, with [1-9][0-9]* streams? open' out" 'a death'
await_end "$apps" 'the load ends' || true

"$load" --quiet --socket "$tmp/socket" --duration 20s too-big >load.out 2>&1 &
apps=$!
bursting
kill -9 "$daemon"
await_end "$daemon" 'nnburstd is killed' 2>/dev/null || true
daemon=
awaits "grep -Eq 'failed [0-9 ]+ times?: (DEAD_OBJECT: the app.s connection|GENERAL_FAILURE:)' out" 'an error'
kill "$apps" 2>/dev/null || true
await_end "$apps" 'the load ends' || true
apps=
stopped 0
whole
for finding in too_big death '(DEAD_OBJECT|GENERAL_FAILURE)'; do
	"$burstscope" cases --format csv cases | grep -Eq ",$finding," || wrong "no case of $finding: $("$burstscope" cases cases)"
	grep -Eqx "$finding" hooks || wrong "--exec was not run for $finding: $(<hooks)"
done
# The ring of the first case is not full: the watcher has all since its beginning, whenever the apps began.
python3 - cases/*/case.json <<'PYTHON' >held 2>&1 || wrong "what was recorded before a case: $(<held)"
import json, sys
cases = [json.load(open(name)) for name in sys.argv[1:]]
assert cases[0]['watched_ns'] is not None, cases[0]
for c in cases:
    assert c['watched_ns'] is None or c['recorded_ns'] >= c['watched_ns'] and c['held_ns'] <= c['recorded_ns'], c
PYTHON
! grep -q 'no page' hooks || wrong '--exec is run before the case is whole'
"$burstscope" cases --by cause --format csv cases | grep -q '^too_big,1,[1-9]' || wrong "cases --by cause: $("$burstscope" cases --by cause cases)"
"$burstscope" summary "$(ls -d cases/*/trace.db | head -n 1)" >sum 2>&1 || wrong "a case cannot be asked: $(<sum)"

# ---- a service manager is notified ----

python3 - "$tmp/notify" >heard <<'PYTHON' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    text = s.recv(4096).decode()
    print(text, flush=True)
    if text == 'STOPPING=1': break
PYTHON
manager=$!
awaits '[[ -S $tmp/notify ]]' 'a service manager'
# The buffers are too small for the requested time, and the watcher reports the size that they need.
start_service "$service" --lanes 1 --policy fifo
"$load" --quiet --socket "$tmp/socket" --duration 60s audio >load.out 2>&1 &
apps=$!
bursting
NOTIFY_SOCKET=$tmp/notify WATCHDOG_USEC=400000 watches "$burstscope" --on death --before 10min --buffer 64K
if ! grep -q 'how long the buffers last is not known' err; then # it measures for a moment, in which a busy machine may run no app
	sed -nE 's/^the buffers last about ([0-9.]+) (m?s) at the rate of the beginning, and less than the .* ask for: --buffer ([0-9]+)([KM]) would do$/\1 \2 \3 \4/p' err |
		awk '{ held = $1 * ($2 == "s" ? 1 : 0.001); size = $3 * ($4 == "M" ? 1024 : 1); ok = size / 64 * held >= 600 && size >= 16384 } END { exit !ok }' ||
		wrong "which buffers would hold ten minutes? $(<err)"
fi
awaits '(($(grep -c "^WATCHDOG=1" heard) >= 3))' 'the watchdog is fed'
stopped 0
kill "$apps"
await_end "$apps" 'the load ends' 2>/dev/null || true
apps=
stop_service || wrong 'nnburstd does not end well'
await_end "$manager" 'the service manager ends'
[[ $(grep -n READY heard | cut -d : -f 1) == 1 && $(tail -n 1 heard) == STOPPING=1 ]] || wrong "a service manager hears: $(<heard)"

((failures == 0))
