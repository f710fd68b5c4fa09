#!/usr/bin/env bash
# watch_kills.sh BURSTSCOPE SERVICE LOAD JSON_SCHEMA SCHEMA -- whatever is killed at any time while burstscope watch
# runs: cases stay, the next watcher finishes or removes half cases, and no session, trigger or process is left. A full
# disk, and twenty conditions in a row.
set -euo pipefail
burstscope=$1 service=$2 load=$3 json_schema=$4 schema=$5
. "$(dirname "$0")/../watching.sh"
export LTTNG_SESSIOND_PATH=/bin/false # a watcher that loses the session daemon waits for the next one here

slow_importer

killed()
{
	kill -9 "$watcher"
	await_end "$watcher" 'watch is killed' 2>/dev/null || true
	watcher=
}

start_sessiond
start_service "$service" --lanes 1

# ---- the watcher is killed: armed; after a condition, within its time; while it makes the case ----

watches "$burstscope" --on miss
killed
[[ $(listed list-triggers | wc -l) == 1 ]] || wrong 'a watcher that is killed leaves its trigger'
watches "$burstscope" --on miss --before 1s --after 200ms --stop-after 1
[[ $(listed list-triggers | wc -l) == 1 ]] || wrong 'the next watcher leaves the trigger of one that was killed'
miss
over 0
(($(kept) == 1)) || wrong "--stop-after 1 keeps $(kept)"
first=$(ls cases)

watches "$burstscope" --on miss --before 1s --after 10s --cooldown 0s
sleep 0.3
killed
[[ $(ls cases) == "$first" ]] || wrong "killed before its snapshot, it leaves $(ls cases)"

begin_slowly
watches "$tmp/slow/burstscope" --on miss --before 1s --after 100ms --cooldown 0s
awaits '[[ -e $tmp/importing ]]' 'an import begins'
killed
[[ $(ls -d cases/*.half) ]] || wrong 'killed while it made a case, it leaves none'
mkdir cases/20200101-000000-000.half
watches "$burstscope" --on death --before 1s --after 100ms --cooldown 0s
said=$(<err)
[[ $said =~ 'a watcher before this one ended early: '([1-9])' case'.*' finished, 1 with too little in it removed' ]] || wrong "not said that half cases are finished: $said"
(($(kept) == 1 + BASH_REMATCH[1])) || wrong "a case that was half made is not finished: $(ls cases)"
stopped 0
whole

# ---- a half case with the cause of a whole one: a repetition within the cooldown, as without the kill ----

n_kept=$(kept)
cp -r "cases/$first" cases/20200101-000000-001.half
watches "$burstscope" --on death --before 1s --after 100ms --cooldown 1h
[[ $(<err) == *'ended early: 0 cases were finished, 1 repetition was counted, because the same cause was kept within --cooldown'* ]] ||
	wrong "not said that a half case is a repetition: $(<err)"
(($(kept) == n_kept)) && grep -q '"again": *1' cases/*/case.json || wrong "a repetition is kept, or not counted: $(ls cases)"
stopped 0

# ---- asked to stop while it makes a case, and asked again ----

begin_slowly
watches "$tmp/slow/burstscope" --on miss --before 1s --after 100ms --cooldown 0s
awaits '[[ -e $tmp/importing ]]' 'an import begins'
kill "$watcher"
awaits 'grep -Eq "^[1-9][0-9]* cases? (is|are) pending: watch ends when that is done; a second Ctrl-C ends it at once$" err' 'how many cases are pending'
kill "$watcher"
over 0
grep -Eq '^[1-9][0-9]* cases? (is|are) unfinished; the next watcher finishes what is in .*/cases$' err || wrong "asked twice to stop, it says: $(<err)"
[[ $(ls -d cases/*.half) ]] || wrong 'asked twice to stop, it leaves no case to be finished'

# ---- a condition while it makes a case ----

no_more
forget
begin_slowly
watches "$tmp/slow/burstscope" --on miss --on death --before 1s --after 100ms --cooldown 1h
miss
awaits '[[ -e $tmp/importing ]]' 'an import begins'
kill -9 "$(awk '{print $1}' "/proc/$apps/task/$apps/children")"
touch "$tmp/go"
awaits 'grep -q "died: its connection ended without a goodbye" out' 'a death while a case is being made'
grep -q 'missed .* deadline' out || wrong "the case that was being made is lost: $(<out)"

no_more
stopped 0

# ---- conditions while LTTng takes snapshots, which takes ten milliseconds: each is counted in a case ----

forget
scenario second '{"name": "second", "duration": "1s", "apps": [{"name": "impossible", "streams":
	[{"name": "short", "model": "keyword", "period": "5ms", "deadline": "1us"}]}]}'
watches "$burstscope" --on miss --before 500ms --after 50ms --cooldown 0s
"$load" --quiet --format json --socket "$tmp/socket" "$tmp/second.json" >load.out 2>&1
missed=$(sed -nE 's/.*"missed_persistent": ([0-9]+).*/\1/p' load.out | head -n 1)
counted() { cat cases/*/case.json 2>/dev/null | sed -nE 's/.*"events": ([0-9]+).*/\1/p' | awk '{ n += $1 } END { print n + 0 }'; }
((missed > 20)) || wrong "of a second, $missed executions missed their deadline"
awaits '(($(counted) >= missed))' "each of $missed misses is in a case: $(counted)"
stopped 0
(($(counted) == missed)) || wrong "the cases count $(counted) misses, there were $missed"
(($(kept) > 1)) || wrong "of $missed misses in a second, $(kept) case is kept"

# ---- the process that makes a case, and its importer, are killed ----

for killed in maker importer; do
	forget
	begin_slowly
	watches "$tmp/slow/burstscope" -v --on miss --before 1s --after 100ms --cooldown 1h --stop-after 1
	miss
	awaits '[[ -e $tmp/importing ]]' 'an import begins'
	awaits '(($(grep -c "fired: its case begins" err) > 1))' 'another case begins'
	maker=$(pgrep -P "$watcher")
	if [[ $killed == maker ]]; then kill -9 "$maker"; else kill -9 "$(pgrep -P "$maker")"; fi
	over 0
	grep -Eq '^miss fired, and is not explained: ' out || wrong "the $killed was killed: $(<out)"
	grep -Eq '^in all: 1 case, 0 repetitions counted, 0 not caught; [1-9] more had begun at the end, and (was|were) dropped$' err || wrong "the $killed was killed: $(<err)"
	[[ $(find cases -path '*/trace/*' -name metadata) ]] || wrong "the $killed was killed: the trace of the case is gone"
	no_more
done

# ---- the consumer daemon is killed ----

forget
watches "$burstscope" --on death --before 1s --after 100ms --cooldown 0s
"$burstscope" record --no-import --for 60s -o recorded >/dev/null 2>record.err &
recorder=$!
awaits 'grep -q "^recording into" record.err' 'record begins'
kill_consumerd
status=0 alive=
await_end "$recorder" 'record ends' || status=$?
! consumerd_missed || alive=1
((status == 5)) || wrong "record without the consumer daemon ends with $status: $(<record.err)"
stopped 0
if [[ $alive ]]; then
	grep -q 'the files written so far are in .*: lttng-consumerd has died' record.err || wrong "record without the consumer daemon: $(<record.err)"
	refuses 5 'lttng-consumerd has died, and lttng-sessiond records nothing until it is started again' --on death
fi
stop_service # a service that lost its session daemon looks for the next one every five seconds
kill_sessiond
start_sessiond
start_service "$service" --lanes 1

# ---- the session daemon is killed ----

forget
watches "$burstscope" --on death --before 1s --after 100ms --cooldown 1h
kill_sessiond
awaits 'grep -q "nothing is watched" err' 'the end of the session daemon is noticed'
start_sessiond
awaits 'grep -q "watching again; what happened in the .* before was not caught" err' 'it watches again'
"$load" --quiet --socket "$tmp/socket" --duration 6s audio >load.out 2>&1 &
apps=$!
bursting
kill -9 "$victim"
awaits 'grep -q "(pid $victim) died" out' 'a death after the session daemon was killed'
grep -lq '"gap_ns": [1-9]' cases/*/case.json || wrong 'no case says that there was a gap'
stopped 0
whole
no_more
miss 1ms # so that there is a miss before LTTng in the service notices that the daemon has ended
watches "$burstscope" --verbose --on miss --after 60s
awaits 'grep -q "miss fired: its case begins, and is taken in 60" err' 'a case begins'
kill_sessiond
awaits 'grep -q "^NOT CAUGHT: miss fired: LTTng.s daemons ended before its time was over (1 so far)" err' 'a case whose buffers are gone'
stopped 0
kill -0 "$daemon" 2>/dev/null || wrong "the service ended with the session daemon"
no_more
stop_service || wrong "the service ends with $?"
start_sessiond
start_service "$service" --lanes 1

# ---- many conditions in a row, and a full disk ----

times=${NNB_CONDITIONS:-8}
forget
mkdir cases
mount -t tmpfs -o size=40m,mode=755 cases cases
miss
watches "$burstscope" --on miss --before 100ms --after 10ms --cooldown 0s --keep 5 --max-disk 12M --buffer 256K --min-free 1M --stop-after "$times"
for ((line = 1, before = failures; line <= times && failures == before; line++)); do # a minute for each, and not for all
	awaits "((\$(wc -l <out) >= $line))" "condition $line"
done
over 0
(($(wc -l <out) == times)) || wrong "$times conditions are $(wc -l <out) lines"
(($(kept) <= 5 && $(kept) >= 2)) || wrong "--keep 5 keeps $(kept)"
(($(du -sk cases | cut -f1) <= 13 * 1024)) || wrong "--max-disk 12M keeps $(du -sk cases)"
whole
before=$(ls cases)
fallocate -l "$(($(df --output=avail -B1 cases | tail -n 1) - 1200000))" cases/full
watches "$burstscope" --on miss --before 100ms --after 10ms --cooldown 0s --buffer 256K --min-free 1M --stop-after 1
awaits 'grep -q "^NOT CAUGHT: miss fired: .*too little room for a case there" err' 'a disk that is full'
[[ $(ls cases) == "$(printf '%s\nfull' "$before")" ]] || wrong "a full disk changes what was kept: $(ls cases)"
rm cases/full
over 0 # there is room again
(($(kept) == $(wc -w <<<"$before") + 1)) || wrong "once there is room again, it keeps $(kept) cases, after $(wc -w <<<"$before")"
whole
no_more
umount cases

echo "counted: $times conditions in a row"
((failures == 0))
