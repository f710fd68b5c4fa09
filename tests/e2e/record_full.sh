#!/usr/bin/env bash
# record_full.sh BURSTSCOPE SERVICE LOAD MANY_STREAMS PROVIDER -- burstscope record on a file system that fills up:
# record, the database and every answer report what LTTng could not write, whether or not there is room again; a
# recording that stops in time is whole.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
((EUID == 0)) || { echo 'skipped: only root can mount a small file system'; exit 77; }
burstscope=$1 service=$2 load=$3 many=$4 provider=$5
loading= filler= recorder=
trap 'stop_jobs; kill $loading $filler $recorder 2>"$tmp/null" || true; stop_service || true; stop_sessiond; umount "$tmp/disk" 2>"$tmp/null" || true; rm -rf "$tmp"' EXIT
mkdir -m 700 "$tmp/work" "$tmp/disk"
cd "$tmp/work"

# disk SIZE: mount an empty file system of that size.
disk()
{
	umount "$tmp/disk" 2>"$tmp/null" || true
	mount -t tmpfs -o "size=$1" small "$tmp/disk" || { echo 'skipped: nothing may be mounted'; exit 77; }
	rm -f ./*.db
}

# ends STATUS ARGUMENT...: run burstscope; it must end with STATUS. $out has its output, $said its standard error.
ends()
{
	local wanted=$1 status=0
	shift
	"$burstscope" "$@" >"$tmp/out" 2>"$tmp/said" || status=$?
	out=$(<"$tmp/out") said=$(<"$tmp/said")
	((status == wanted)) || wrong "${BASH_LINENO[0]}: $* ends with $status, not $wanted: $said"
}

says() { [[ $said == *"$1"* ]] || wrong "${BASH_LINENO[0]}: not said: $1 (but: $said)"; }
prints() { [[ $out == *"$1"* ]] || wrong "${BASH_LINENO[0]}: not printed: $1 (but: $out)"; }
asked() { "$burstscope" sql -q --format csv "$1" "$2" | tail -1; }

# fill BYTES: leave only BYTES free, while others write, too.
fill()
{
	local free tries=0
	until
		free=$(df --output=avail -B1 "$tmp/disk" | tail -1)
		fallocate -l $((free > $1 ? free - $1 : 1)) "$tmp/disk/filler" 2>"$tmp/null"
	do
		rm -f "$tmp/disk/filler"
		((++tries < 100)) || { echo "$1 bytes cannot be left"; exit 1; }
	done
	(($1)) || cat /dev/zero >>"$tmp/disk/filler" 2>"$tmp/null" || true
}

# in_background ARGUMENT...: start to record, and wait until record reports that it records.
in_background()
{
	: >"$tmp/bg"
	env --default-signal=INT,TERM,HUP "$burstscope" record "$@" >"$tmp/out" 2>"$tmp/bg" &
	recorder=$!
	until grep -q '^recording into' "$tmp/bg"; do
		kill -0 "$recorder" 2>"$tmp/null" || { wrong "record $* ends early: $(<"$tmp/bg")"; break; }
		sleep 0.05
	done
}

# ended STATUS: the record in the background must end with STATUS.
ended()
{
	local status=0
	await_end "$recorder" "line ${BASH_LINENO[0]}: record ends" || status=$?
	recorder=
	said=$(<"$tmp/bg")
	((status == $1)) || wrong "${BASH_LINENO[0]}: it ends with $status, not $1: $said"
}

# grown BYTES: wait until the recording has that size.
grown()
{
	until (($(du -sb "$tmp/disk/r" | cut -f 1) > $1)); do
		kill -0 "$recorder" 2>"$tmp/null" || { echo "the recording has ended: $(<"$tmp/bg")"; exit 1; }
		sleep 0.02
	done
}

start_sessiond

# ---- too little room at the start ----

disk 2m
ends 5 record -o "$tmp/disk/r" -- "$many" "$provider" 10
says 'are to be left (--min-free); nothing would be recorded'
[[ $said != *$'\n'* && ! $(ls -A "$tmp/disk") ]] || wrong "not one line, or something is left: $said"
ends 2 record --min-free much -- true
says "--min-free: 'much' is not a size"

# ---- the disk fills unnoticed ----

for streams in 30000 200000; do # LTTng's consumer fails within a packet; the metadata is written after that, or never
	disk 2m
	ends 5 record --min-free 0K -o "$tmp/disk/r" -- "$many" "$provider" "$streams"
	says 'LOST: '
	says 'there was no room'
	[[ $said != *'no lost events'* && $said != *'no event was lost'* ]] || wrong "it says that all is well: $said"
	status=0
	"$burstscope" import -o all.db "$tmp/disk/r" 2>"$tmp/said" || status=$?
	case $status in
	0) grep -q 'not recorded' "$tmp/said" && ((0$(asked all.db 'SELECT count(*) FROM loss') > 0)) || wrong "import says nothing: $(<"$tmp/said")" ;;
	4) grep -q 'its metadata is cut' "$tmp/said" || wrong "import does not say why not: $(<"$tmp/said")" ;;
	*) wrong "import ends with $status: $(<"$tmp/said")" ;;
	esac
done

# ---- the disk fills, and there is room again ----

start_service "$service"
"$load" --quiet --socket "$tmp/socket" --duration 120s audio >"$tmp/null" 2>&1 &
loading=$!
until "$service" --status --socket "$tmp/socket" | grep -q '^bursts *[1-9]'; do sleep 0.05; done
disk 64m
in_background --min-free 0K --buffer 128K -o "$tmp/disk/r"
grown 50000
logged=$(stat -c %s "$tmp/sessiond.log")
fill 0
full=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
until tail -c "+$logged" "$tmp/sessiond.log" | grep -q 'No space left on device'; do sleep 0.05; done
sleep 1
rm "$tmp/disk/filler"
sleep 1
stopped=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
kill -INT "$recorder"
ended 5
says 'LOST: '
says 'not all of it is in'
[[ -e $tmp/disk/r.db ]] || wrong "no database of what there is: $said"
db=$tmp/disk/r.db
(($(asked "$db" 'SELECT count(*) FROM loss') > 0)) || wrong 'the database has lost nothing'
# A cpu that was idle meanwhile may have all its packets; the others lose the time after their last packet.
(($(asked "$db" 'SELECT max(ended - began) FROM loss') > (stopped - full) / 2)) ||
	wrong "of $((stopped - full)) ns: $("$burstscope" sql -q "$db" 'SELECT * FROM loss')"
ends 0 import -o all.db "$tmp/disk/r"
says 'not recorded'
ends 1 doctor "$tmp/disk/r"
prints 'FAIL'
for command in summary latency overhead misses fairness timeline; do
	ends 0 "$command" --no-pager "$db"
	[[ $out == *'not recorded'* && $out != *'no event was lost'* ]] || wrong "$command says nothing of it: $out"
done
ends 3 fairness --verdict "$db"

# ---- the disk fills, and the recording stops before ----

whole='SELECT count(*) FROM loss'

disk 64m
in_background --min-free 8M --buffer 128K -o "$tmp/disk/r"
grown 50000
fill $((7 << 20))
ended 5
says '--min-free'
says 'LTTng counted no lost events'
says 'not imported, because there is too little room beside it'
ends 0 import -o whole.db "$tmp/disk/r"
(($(asked whole.db "$whole") == 0)) || wrong "a recording that was stopped: $("$burstscope" sql -q whole.db 'SELECT * FROM loss')"

# ---- there is room ----

disk 256m
ends 0 record --for 1s --buffer 128K -o "$tmp/disk/r"
says 'LTTng counted no lost events'
(($(asked "$tmp/disk/r.db" "$whole") == 0)) || wrong "with room: $("$burstscope" sql -q "$tmp/disk/r.db" 'SELECT * FROM loss')"
kill "$loading"
await_end "$loading" 'the load ends' 2>"$tmp/null" || true
loading=
stop_service || wrong 'nnburstd does not end well'

((failures == 0)) || exit 1
echo 'record_full.sh: all as it should be'
