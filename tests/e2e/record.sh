#!/usr/bin/env bash
# record.sh BURSTSCOPE SERVICE LOAD MANY_STREAMS PROVIDER -- burstscope record: with and without a session daemon, as
# root and as a user. The trace has what record was asked to record, losses are counted, and whatever ends record, it
# keeps older recordings and leaves no process behind.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
burstscope=$1 service=$2 load=$3 many=$4 provider=$5
recorder=
trap 'stop_jobs; stop_recorder; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT
mkdir -m 700 "$tmp/work" # root runs the files in it
chmod 755 "$tmp"
cd "$tmp/work"

stop_recorder() { [[ ! $recorder ]] || kill -9 "$recorder" 2>/dev/null || true; }

# ends STATUS ARGUMENT...: run burstscope record; it must end with STATUS. $out has its output, $said its standard
# error.
ends()
{
	local wanted=$1 status=0
	shift
	"$burstscope" record "$@" >"$tmp/out" 2>"$tmp/said" || status=$?
	out=$(<"$tmp/out") said=$(<"$tmp/said")
	((status == wanted)) || wrong "${BASH_LINENO[0]}: record $* ends with $status, not $wanted: $said"
}

says() { [[ $said == *"$1"* ]] || wrong "${BASH_LINENO[0]}: not said: $1 (but: $said)"; }

# refuses STATUS WORDS ARGUMENT...: record must end with STATUS and one line with WORDS, and leave no file.
refuses()
{
	local status=$1 words=$2 before after
	shift 2
	before=$(ls -A)
	ends "$status" "$@"
	says "$words"
	[[ ! $out && $said != *$'\n'* ]] || wrong "${BASH_LINENO[0]}: record $*: not one line: $out$said"
	after=$(ls -A)
	[[ $before == "$after" ]] || wrong "${BASH_LINENO[0]}: record $* leaves something behind: $after"
}

# events: print the number of events of the last recording, from record's own output.
events() { sed -nE 's/^recorded .*, ([0-9 ]+) events?,.*/\1/p' <<<"$said" | tr -d ' '; }
lost() { sed -nE 's/^LOST in channel bursts: ([0-9 ]+) events?,.*/\1/p' <<<"$said" | tr -d ' '; }
sessions() { lttng --no-sessiond list 2>/dev/null | grep -c 'burstscope-' || true; }

# in_background FILE ARGUMENT...: start to record, and wait until record reports that it records.
in_background()
{
	local said_to=$1
	shift
	: >"$said_to" # the output of an earlier run is removed
	env --default-signal=INT,TERM,HUP "$burstscope" record "$@" >"$tmp/out" 2>"$said_to" &
	recorder=$!
	until grep -q '^recording into' "$said_to"; do
		kill -0 "$recorder" 2>/dev/null || { wrong "record $* ends early: $(<"$said_to")"; return; }
		sleep 0.05
	done
}

# ended STATUS FILE: the record in the background must end with STATUS.
ended()
{
	local status=0
	await_end "$recorder" "line ${BASH_LINENO[0]}: record ends" || status=$?
	recorder=
	said=$(<"$2")
	((status == $1)) || wrong "${BASH_LINENO[0]}: it ends with $status, not $1: $said"
}

# ---- refusals ----

refuses 2 "no option '--bufer'; did you mean '--buffer'?" --bufer 1M
refuses 2 "no 'fll'; did you mean 'full'?" --detail fll
refuses 2 "'much' is not a size" --buffer much
refuses 2 "--buffer: '0' is not a size" --buffer 0
refuses 2 '--buffer: more than 4096M' --buffer 5G
refuses 2 '--for: 0 is out of range' --for 0s
refuses 2 '--output: a directory has a name' -o ''
refuses 2 'no-such-program: there is no such program' -- no-such-program
refuses 2 "$tmp/said is no program that can be run" -- "$tmp/said"
refuses 2 'its name is too long' -o "$(printf '%04000d' 1)" -- true
refuses 5 'cannot be made' -o no/such/directory -- true
mkdir full && touch full/file
mkdir -m 1777 anybodys
refuses 5 'anybodys can be written by all users' -o anybodys -- true
mkdir shared && chmod 2775 shared
if ((EUID == 0 || $(id -g) != EUID)); then
	refuses 5 'shared can be written by its group' -o shared -- true
fi
if ((EUID == 0)); then
	mkdir theirs && chown 1234 theirs
	refuses 5 'theirs belongs to another user' -o theirs -- true
fi
start_sessiond
refuses 2 'full is not empty' -o full -- true
refuses 5 '--kernel: the session daemon has no kernel tracer (' -q --kernel -o new -- true
"$burstscope" record --print-commands --kernel -o by-hand >"$tmp/commands" || wrong '--print-commands --kernel'
for event in sched_switch sched_waking irq_handler_entry irq_handler_exit power_cpu_frequency; do
	grep -Eq "^lttng enable-event --kernel --session=\S+ --channel=bursts $event\$" "$tmp/commands" || wrong "--kernel prints no $event"
done

# ---- the commands that record prints do what record does ----

cat >lists <<'END' # FILE: write the contents of the present session there
#!/bin/sh
name=$(lttng --no-sessiond list | sed -nE 's/.*(burstscope-record-[0-9-]+) .*/\1/p')
lttng --no-sessiond list "$name" | sed -E "s/$name/SESSION/; s/Trace output: .*//" >"$1"
END
chmod +x lists
for options in '--detail full' '--detail compact' '--detail verbose' '--buffer 300K'; do
	read -ra words <<<"$options"
	rm -rf it by-hand
	"$burstscope" record -q --no-import "${words[@]}" -o it -- ./lists it.txt 2>"$tmp/said" || true # no event happens in it
	"$burstscope" record --print-commands "${words[@]}" -o by-hand -- ./lists by-hand.txt >"$tmp/commands" 2>"$tmp/said" ||
		wrong "--print-commands $options: $(<"$tmp/said")"
	quietly bash -e "$tmp/commands"
	grep -q 'nnburst:\*' it.txt || wrong "$options: no events in the list: $(<it.txt)"
	cmp it.txt by-hand.txt || wrong "$options: the printed commands do something else: $(diff it.txt by-hand.txt)"
done
grep -q 'Sub-buffer size:  32768 bytes' it.txt || wrong "300K is not rounded to 512K: $(<it.txt)"
[[ $(sessions) == 0 ]] || wrong 'sessions are left'

# ---- the contents of recordings ----

umask 0
ends 0 -o some -- "$many" "$provider" 1000
umask 022
[[ $(stat -c %a some) == 755 ]] || wrong "umask 0: others can write into the recording: $(stat -c %A some)"
[[ $(events) == 3003 ]] || wrong "of 3003 events: $said"
says 'LTTng counted no lost events'
says 'next: burstscope summary some'
[[ -e some.db ]] || wrong 'no database'
[[ $("$burstscope" sql -q --format csv some.db 'SELECT sum(events) FROM trace' | tail -1) == 3003 ]] || wrong 'not in the database'
[[ $("$burstscope" sql -q --format csv some.db 'SELECT boottime_ns >= 0 FROM trace' | tail -1) == 1 ]] || wrong 'no CLOCK_BOOTTIME in the database'
grep -qxE 'boottime [0-9]{20}' some/burstscope.record || wrong 'no CLOCK_BOOTTIME in the recording'
# Remove the stream of the last cpu and its index: the recorder's count of streams shows the loss.
streams=(some/ust/uid/0/*/bursts_*)
grep -qxE "streams 0*${#streams[@]}" some/burstscope.record || wrong "not ${#streams[@]} streams: $(grep streams some/burstscope.record)"
if ((${#streams[@]} > 1)); then
	cp -r some fewer
	rm fewer/ust/uid/0/*/bursts_$((${#streams[@]} - 1)) fewer/ust/uid/0/*/index/bursts_$((${#streams[@]} - 1)).idx
	"$burstscope" import -q fewer -o fewer.db >/dev/null 2>&1 || true
	lost=$("$burstscope" sql -q --format csv fewer.db "SELECT count(*) FROM loss WHERE cause = 'stream' AND cpu = $((${#streams[@]} - 1))" | tail -1)
	[[ $lost == 1 ]] || wrong "the stream of the last cpu is gone, and so many losses say so: $lost"
fi
ends 0 --detail compact -o compact -- "$many" "$provider" 1000
[[ $(events) == 1003 ]] || wrong "compact, and of 1003 events: $said" # stream_open is always emitted, so compact has 1003 events
mkdir empty
ends 0 -q --no-import -o empty/ -- "$many" "$provider" 10
[[ ! $said && -d empty/ust && ! -e empty.db ]] || wrong "into an empty directory: $said"
echo precious >kept.db
echo older >kept.html
ends 0 --report -o kept -- "$many" "$provider" 10
says 'kept.db exists already'
says 'no page was made, because the recording is not imported'
says 'kept.html is of an earlier one'
[[ $(<kept.db) == precious ]] || wrong "record has changed a file of another program"
ends 3 -o ../work/dots -- sh -c "echo of mine; echo to you >&2; '$many' '$provider' 10; exit 3"
[[ $out == 'of mine' ]] || wrong "the output of the command: $out"
says 'to you'
says 'sh ended with 3'
ends $((128 + 9)) -o by-itself -- sh -c "'$many' '$provider' 10; kill -9 \$\$"
says 'sh was ended by SIGKILL'
ends 5 -o unserved -- "$load" --quiet --socket "$tmp/no-service" transport
says 'nnburst-load ended with 5'
says 'it has no executions, so no answers; next: burstscope doctor unserved'
ends 0 --for 2s -o timed -- sh -c "'$many' '$provider' 10; exec sleep 1000"
says 'sh was ended by SIGTERM'
in_background "$tmp/bg" -o stubborn -- sh -c "trap '' TERM; '$many' '$provider' 10; touch there; while :; do sleep 1; done"
awaits '[[ -e there ]]' 'the command ignores SIGTERM'
kill -TERM "$recorder"
awaits 'grep -q "^waiting: sh (pid [0-9]*) has not ended yet; after 10 s it gets SIGKILL" "$tmp/bg"' 'record says that it waits for the command'
kill -TERM "$recorder"
ended 0 "$tmp/bg"
says "sh was ended by burstscope's SIGKILL, "
ends 0 -- "$many" "$provider" 10
[[ -d $(echo burstscope-2*[0-9]) ]] || wrong 'no directory of its own making'
refuses 5 'nothing was recorded' -q -o nothing -- true
refuses 5 'nothing was recorded for scope app=nobody: ' -q --app nobody -o nothing -- true
start_service "$service"
"$load" --quiet --socket "$tmp/socket" --duration 60s transport >/dev/null 2>&1 &
loading=$!
until "$service" --status --socket "$tmp/socket" | grep -q '^bursts *[1-9]'; do sleep 0.05; done
ends 0 -v --for 500ms -o busy
says 'what runs already writes'
says 'LTTng counted no lost events'
(($(events) > 0)) || wrong "nothing of what ran already: $said"
# another program stops the session for a while: LTTng does not count that as lost, but the import finds it, and every
# output agrees
in_background "$tmp/bg" -o stopped
name=$(lttng --no-sessiond list | grep -o 'burstscope-record-[0-9-]*' | head -1)
goes_on "$service"
quietly lttng --no-sessiond stop "$name"
quietly lttng --no-sessiond start "$name"
goes_on "$service"
kill -INT "$recorder"
ended 5 "$tmp/bg"
says 'LOST: 1 interval was not recorded'
says 'not all of it is in stopped; burstscope doctor stopped shows what is missing'
[[ $said != *'no lost events'* ]] || wrong "it says that all is well: $said"
status=0
"$burstscope" doctor stopped >"$tmp/out" 2>"$tmp/said" || status=$?
((status == 1)) && grep -q FAIL "$tmp/out" || wrong "doctor ends with $status: $(<"$tmp/out") $(<"$tmp/said")"
# A model of the user's own, with a service for as long as the run takes, beside another service: the cost of its
# bursts, and the names of all files.
out=$("$load" --model mlp --record=mine --duration 1s --seed 3 2>"$tmp/said") || wrong "--record: $(<"$tmp/said")"
said=$(<"$tmp/said")
says 'nnburst-load ended with 0'
says 'recorded mine:'
says 'next: burstscope summary mine'
[[ $out == *'one app that runs one model by bursts'*'overhead: time of executions beyond their useful run'*'app  mlp    burst  warm'* ]] ||
	wrong "--record does not say what a burst costs: $out"
[[ -d mine/ust && -e mine.db ]] || wrong '--record keeps nothing'
[[ $out$said != *'services are judged together'* ]] || wrong "--record records another service, too: $out$said"
runs=$("$burstscope" sql -q --format csv mine.db 'SELECT count(*) > 10, count(DISTINCT app_id) FROM execution' | tail -1)
[[ $runs == 1,1 ]] || wrong "of one app: $runs"
# Ended early, by a signal to record alone and by Ctrl-C: the service outlives the recorded run, which ends well, and
# leaves no directory.
#
# own_service DIRECTORY: wait until bursts are recorded, and print the directory of the service of that recording.
own_service()
{
	until grep -qs '^recording into' "$1.said"; do
		kill -0 "$early" 2>/dev/null || { wrong "--record=$1 ends early: $(<"$1.said")"; return; }
		sleep 0.05
	done
	place=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | sed -nE "/^$1\$/,\$ s|^(/tmp/nnburst-load\..*)/socket\$|\1|p" | head -1) || true
	[[ -d $place ]] || { wrong "--record=$1 has no service of its own"; return; }
	requests() { "$service" --status --socket "$place/socket" | sed -nE 's/^so far: ([0-9]+) burst requests.*/\1/p'; }
	awaits '(($(requests) + 0 >= 20))' 'the bursts of a model of one'"'"'s own'
}
# early_end DIRECTORY STATUS: the record that was asked to end must end with STATUS.
early_end()
{
	(($2 == 0)) || wrong "--record=$1, ended early, ends with $2: $(<"$1.said")"
	said=$(<"$1.said")
	says 'nnburst-load ended with 0'
	says "recorded $1:"
	[[ $said == *'overhead: time of executions beyond their useful run'* ]] || wrong "--record=$1, ended early, does not say what a burst costs: $said"
	[[ ! -e $place ]] || wrong "--record=$1 leaves $place: $(ls "$place")"
}
env --default-signal=INT,TERM,HUP "$load" --model mlp --record=asked --duration 60s >asked.said 2>&1 &
early=$! status=0
own_service asked
kill -TERM "$early"
await_end "$early" 'what is asked to end does' || status=$?
early_end asked "$status"
if command -v script >/dev/null; then
	mkfifo keys
	# exec: a shell between them would end by the Ctrl-C, too
	env --default-signal=INT,TERM,HUP script -qec "exec '$load' --model mlp --record=typed --duration 60s" /dev/null <keys >typed.said 2>&1 &
	early=$! status=0
	exec 7>keys
	own_service typed
	printf '\003' >&7
	await_end "$early" 'what is typed to end does' || status=$?
	exec 7>&-
	early_end typed "$status"
fi
! "$load" --model no.tflite --record=none 2>"$tmp/said" || wrong '--record of no model ends with 0'
[[ $(<"$tmp/said") == 'nnburst-load: no.tflite: No such file or directory' && ! -e none ]] || wrong "--record of no model: $(<"$tmp/said")"
ends 0 -o both -- "$load" --quiet --service --model mlp --duration 300ms
says '2 services are judged together (burstscope record --service SOCKET records one)'
kill "$loading"
await_end "$loading" 'the load ends' 2>/dev/null || true
stop_service || wrong 'nnburstd does not end well'

# ---- losses ----

buffer=8K steps=0
while
	rm -rf lossy lossy.db
	ends 0 --buffer "$buffer" -o lossy -- "$many" "$provider" 200000
	[[ $said == *LOST* ]]
do
	((steps > 0)) || says 'why: cpu '
	(($(events) + $(lost) == 600003)) || wrong "--buffer $buffer: $(events) were kept and $(lost) lost, of 600003"
	[[ $("$burstscope" sql -q --format csv lossy.db 'SELECT sum(lost_events) FROM trace' | tail -1) == "$(lost)" ]] ||
		wrong "--buffer $buffer: the trace has lost another number of events"
	buffer=$(sed -nE 's/^try: --buffer ([0-9]+[KM]).*/\1/p' <<<"$said")
	((++steps < 6)) || { wrong "what it advises loses as well: $said"; break; }
done
((steps > 0)) || wrong '8K of buffers, and 600003 events at once, and nothing was lost'
(($(events) == 600003)) || wrong "as it advises: $(events) events of 600003"

# ---- ends ----

for signal in INT TERM HUP; do
	in_background "$tmp/bg" -o "by-$signal"
	quietly "$many" "$provider" 100
	kill -"$signal" "$recorder"
	kill -"$signal" "$recorder" 2>/dev/null || true # a second signal, as users send it
	ended 0 "$tmp/bg"
	[[ $(events) == 303 ]] || wrong "ended by $signal, of 303 events: $said"
done
in_background "$tmp/bg" -o with-command -- sh -c "'$many' '$provider' 100; exec sleep 1000"
until [[ $(pgrep -P "$recorder" -x sleep) ]]; do sleep 0.05; done
sleeping=$(pgrep -P "$recorder" -x sleep)
kill -INT "$recorder"
ended 0 "$tmp/bg"
[[ $(events) == 303 ]] || wrong "with a command, of 303 events: $said"
kill -0 "$sleeping" 2>/dev/null && wrong 'the command is still there'
[[ $(sessions) == 0 ]] || wrong 'sessions are left'

in_background "$tmp/bg" -o killed
quietly "$many" "$provider" 100
kill -9 "$recorder"
await_end "$recorder" 'a recorder is killed' 2>/dev/null || true
recorder=
[[ $(sessions) == 1 ]] || wrong 'killed, and where is its session?'
ends 0 -o after -- "$many" "$provider" 10
says 'ended 1 session of burstscope record, whose process was killed'
[[ $(sessions) == 0 ]] || wrong 'the session of one that was killed is left'
[[ $("$burstscope" import -o killed.db killed 2>&1) == *' 303 events'* ]] || wrong 'what one that was killed recorded is not there'

in_background "$tmp/bg" -o orphan
quietly "$many" "$provider" 100
orphans=$(consumers)
[[ $orphans ]] || wrong 'there is no consumer daemon'
kill -STOP $orphans # as on a busy machine
kill -9 "$sessiond"
await_end "$sessiond" 'lttng-sessiond is killed' 2>/dev/null || true
sessiond=
ended 5 "$tmp/bg"
says 'lttng-sessiond has gone'
[[ -d orphan ]] || wrong 'what was written is not there'
rm -f /var/run/lttng/*sock* 2>/dev/null || true

# ---- without a session daemon ----

gone() { ! lttng --no-sessiond list >/dev/null 2>&1; }

gone || wrong 'there is a session daemon'
# a daemon that notes how it is started and whether the consumer daemons of the one before still run, and loads no
# modules here
printf '#!/bin/sh\necho "$@" >"%s/asked"\ngrep -qs consumerd %s && : >"%s/beside"\nexec lttng-sessiond --no-kernel\n' \
	"$tmp" "$(printf '/proc/%s/cmdline ' $orphans)" "$tmp" >"$tmp/lttng-sessiond"
chmod +x "$tmp/lttng-sessiond"
LTTNG_SESSIOND_PATH=$tmp/lttng-sessiond "$burstscope" record -o own -- "$many" "$provider" 1000 >"$tmp/out" 2>"$tmp/bg" &
recorder=$!
# It has the lock of those that start a daemon, and then looks again and again, unless it starts one.
pauses() { awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$recorder/status"; }
awaits '[[ $(readlink "/proc/$recorder/fd/"*) == *burstscope.lock* ]]' 'record is about to start a session daemon'
before=$(pauses)
awaits '[[ -e $tmp/asked ]] || (($(pauses) >= before + 3))' 'record waits for the consumer daemons to end'
kill -CONT $orphans
ended 0 "$tmp/bg"
says 'lttng-sessiond: none was there'
[[ $(events) == 3003 ]] || wrong "with a daemon of its own, of 3003 events: $said"
gone || wrong 'the session daemon that it started is left'
[[ $(<"$tmp/asked") == --no-kernel ]] || wrong "without --kernel the session daemon is started with: $(<"$tmp/asked")"
[[ ! -e $tmp/beside ]] || wrong 'a session daemon was started beside the consumer daemons of one that was killed'
LTTNG_SESSIOND_PATH=/bin/false refuses 5 '/bin/false does not start' -q -o new -- true
LTTNG_SESSIOND_PATH=/no/such refuses 5 '/no/such does not start' -q -o new -- true
LTTNG_SESSIOND_PATH=$tmp/lttng-sessiond refuses 5 '--kernel: the session daemon has no kernel tracer (' -q --kernel -o new -- true
[[ $(<"$tmp/asked") == '' ]] || wrong "with --kernel the session daemon is started with: $(<"$tmp/asked")"
gone || wrong 'the session daemon that was to record the kernel is left'
start_service "$service" # the service must find one daemon after the other
kill -STOP "$daemon"
env --default-signal=INT "$burstscope" record -o early --for 5s >"$tmp/out" 2>"$tmp/bg" &
recorder=$!
awaits 'grep -q "^waiting for" "$tmp/bg"' 'record waits for a program that finds no session daemon'
kill -INT "$recorder"
ended 130 "$tmp/bg"
says 'stopped before anything was recorded'
[[ ! -e early && ! -e early.db ]] || wrong 'stopped before anything was recorded, and something is left'
kill -CONT "$daemon"
for turn in first second; do
	ends 0 --report -o "of-$turn" -- "$load" --quiet --socket "$tmp/socket" --duration 200ms audio
	[[ $("$burstscope" sql -q --format csv "of-$turn.db" "SELECT min(sides = 'both') FROM execution WHERE path <> 'prepare'" | tail -1) == 1 ]] ||
		wrong "$turn: the service is not in it: $said"
	says "the page is of-$turn.html"
	[[ $(tail -1 "of-$turn.html") == '</html>' ]] || wrong "$turn: no page"
done
stop_service || wrong 'nnburstd does not end well'
start_service "$service"
in_background "$tmp/bg" -o own-stopped
quietly "$load" --quiet --socket "$tmp/socket" --duration 200ms audio
kill -STOP "$daemon" # it closes no buffer of LTTng, and the consumer daemon waits for that
kill -INT "$recorder"
ended 0 "$tmp/bg"
says 'LTTng counted no lost events'
gone || wrong 'the session daemon is left beside a program that is stopped'
[[ ! -e /var/run/lttng/sessiond-notification && ! -e $LTTNG_HOME/.lttng/sessiond-notification ]] ||
	wrong 'the session daemon was killed, because it waited for a program that is stopped'
kill -CONT "$daemon"
stop_service || wrong 'nnburstd does not end well'
in_background "$tmp/bg" -o own-killed
kill -9 "$recorder"
await_end "$recorder" 'a recorder is killed' 2>/dev/null || true
recorder=
ends 0 -o own-after-killed -- "$many" "$provider" 100 # at once: the earlier daemon has not ended yet
[[ $(events) == 303 ]] || wrong "right after a kill, of 303 events: $said"
until gone; do sleep 0.05; done # the daemon ends with its starter

if ((EUID == 0)); then
	mkdir -m 700 "$tmp/home" && chown 1234:1234 "$tmp/home"
	env -C "$tmp/home" -u LTTNG_HOME HOME="$tmp/home" setpriv --reuid 1234 --regid 1234 --clear-groups \
		"$burstscope" record -o user -- "$many" "$provider" 1000 2>"$tmp/said" || wrong "as a user: $(<"$tmp/said")"
	said=$(<"$tmp/said")
	says 'lttng-sessiond: none was there'
	[[ $(events) == 3003 && $(stat -c %u "$tmp/home/user") == 1234 ]] || wrong "as a user, of 3003 events: $said"

	# little room
	mount -t tmpfs -o size=2M small /dev/shm
	refuses 5 'try --buffer 1M' --buffer 16M -o new -- true
	ends 0 -o small -- "$many" "$provider" 10
	says 'instead of 16 MiB, for there is no more room'
	umount /dev/shm

	# no LTTng at all
	library=$(ldconfig -p | sed -nE 's/.*liblttng-ctl\.so\.0 .*=> //p' | head -1)
	mount --bind /dev/null "$(realpath "$library")"
	refuses 5 'liblttng-ctl.so.0 is not to be had' -o new -- true
	"$burstscope" sql some.db 'SELECT 1' >"$tmp/out" 2>&1 || wrong "without LTTng there are no answers: $(<"$tmp/out")"
	umount "$(realpath "$library")"
fi

((failures == 0)) || exit 1
echo 'record.sh: all as it should be'
