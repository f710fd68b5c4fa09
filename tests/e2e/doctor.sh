#!/usr/bin/env bash
# doctor.sh BURSTSCOPE SERVICE MANY_STREAMS PROVIDER -- burstscope doctor passes on a sound machine and names each
# fault on a broken one; for a recording it lists the losses, and what would have prevented them.
set -euo pipefail
. "$(dirname "$0")/../lttng.sh"
burstscope=$1 many=$3 provider=$4
failures=0
export LTTNG_HOME=$tmp
cd "$tmp"

wrong()
{
	echo "doctor.sh: $*"
	failures=$((failures + 1))
}

# ends STATUS ARGUMENT...: run burstscope doctor; it must end with STATUS. $out has its output.
ends()
{
	local wanted=$1 status=0
	shift
	"$burstscope" doctor "$@" >"$tmp/out" 2>"$tmp/said" || status=$?
	out=$(<"$tmp/out") said=$(<"$tmp/said")
	((status == wanted)) || wrong "${BASH_LINENO[0]}: doctor $* ends with $status, not $wanted: $out$said"
}

# result CHECK: print the result of that check.
result() { "$burstscope" doctor --format csv 2>/dev/null | sed -nE "s:^\"?$1\"?,([a-z]+),.*:\1:p"; }

# sick CHECK RESULT STATUS: doctor must find the fault and report it in this row.
sick()
{
	ends "$3" --format csv
	grep -qE "^\"?$1\"?,$2," <<<"$out" || wrong "${BASH_LINENO[0]}: $1 is no $2: $out"
	grep -E "^\"?$1\"?,$2," <<<"$out" | grep -qE ',[^,]+$' || wrong "${BASH_LINENO[0]}: $1: no remedy: $out"
}

# ---- a sound machine: with a session daemon and without one ----

ends 0
for check in provider liblttng-ctl 'session daemon' events recording lttng-sessiond rights /dev/shm clock 'working directory' importer nnburstd nnburst-load; do
	grep -q "^$check  " <<<"$out" || wrong "nothing of $check: $out"
done
grep -q 'not running; record starts it' <<<"$out" || wrong "of the session daemon: $out"
lttng --no-sessiond list >/dev/null 2>&1 && wrong 'the session daemon that it started is left'
start_sessiond
ends 0
grep -q 'running, and answers' <<<"$out" || wrong "of the session daemon: $out"
ends 0 --format json
[[ $out == *'"pass":true'* ]] || wrong "json: $out"
stop_sessiond

# ---- faults ----

LTTNG_SESSIOND_PATH=$tmp/no-such sick 'session daemon' problem 1
grep -qE '^"?session daemon"?,.*no-such does not start.*name it in \$LTTNG_SESSIOND_PATH' <<<"$out" || wrong "of no session daemon: $out"
! grep -q 'run burstscope doctor' <<<"$out" || wrong "doctor sends to itself: $out"

cp "$provider" "$tmp/provider.so"
chmod g+w "$tmp/provider.so"
NNBURST_TRACEPOINTS=$tmp/provider.so sick provider problem 1
NNBURST_TRACEPOINTS=$tmp/none.so sick provider problem 1
NNBURST_TRACEPOINTS= sick provider warning 0
echo 'no library' >"$tmp/text.so"
NNBURST_TRACEPOINTS=$tmp/text.so sick events problem 1
printf '#!/bin/sh\nexit 3\n' >"$tmp/lttng-sessiond" && chmod +x "$tmp/lttng-sessiond"
PATH=$tmp:$PATH LTTNG_SESSIOND_PATH=$tmp/lttng-sessiond sick lttng-sessiond problem 1
PATH=$tmp:$PATH LTTNG_SESSIOND_PATH=$tmp/lttng-sessiond sick 'session daemon' problem 1
mkdir "$tmp/alone" && cp "$burstscope" "$tmp/alone/"
whole=$burstscope burstscope=$tmp/alone/burstscope
sick importer problem 1
sick provider problem 1
burstscope=$whole
if ((EUID == 0)); then
	mount -t tmpfs -o size=4M small /dev/shm
	sick /dev/shm warning 0
	umount /dev/shm
	library=$(realpath "$(ldconfig -p | sed -nE 's/.*liblttng-ctl\.so\.0 .*=> //p' | head -1)")
	mount --bind /dev/null "$library"
	sick liblttng-ctl problem 1
	umount "$library"
fi

# ---- a recording ----

"$burstscope" record -q -o well -- "$many" "$provider" 1000
ends 0 well
grep -q 'pass' <<<"$out" || wrong "a recording that lost nothing: $out"
"$burstscope" record -q --buffer 8K -o lossy -- "$many" "$provider" 200000
ends 1 lossy
lost=$("$burstscope" sql -q --format csv lossy.db 'SELECT sum(lost_events) FROM trace' | tail -1)
((lost > 0)) || wrong '8K of buffers, and 600003 events at once, and nothing was lost'
ends 1 --format csv lossy
((lost == $(awk -F, 'NR > 1 { n += $5 } END { print n }' <<<"$out"))) || wrong "of $lost lost events: $out"
ends 1 --format csv --part advice lossy
read -r rows wanted < <(awk -F, 'NR > 1 { n++; if ($4 > most) most = $4; if ($3 != 8192) bad = 1 } END { print bad ? 0 : n, most }' <<<"$out")
((rows > 0 && wanted > 8192)) || wrong "advice: $out"
mv lossy elsewhere
ends 1 lossy.db
grep -q 'not there any more' <<<"$out" || wrong "of a trace that has gone: $out"
ends 4 no-such
[[ ! $out && $said == 'burstscope: doctor: '* ]] || wrong "of no recording: $out$said"

((failures == 0)) || exit 1
echo 'doctor.sh: all as it should be'
