#!/usr/bin/env bash
# import_robust.sh BURSTSCOPE SERVICE LOAD MANY_STREAMS PROVIDER -- import with any input, and whatever happens to that
# input meanwhile: one clear line, the documented status, nothing on standard output, and a whole database or none.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
command -v sqlite3 >/dev/null || { echo 'skipped: no sqlite3'; exit 77; }
burstscope=$1 service=$2 load=$3 many_streams=$4 provider=$5
check=$(dirname "$0")/../analyzer/check.sql
out=$tmp/out
mkdir "$out"

# ends STATUS ARGUMENT...: run import; it must end with STATUS and print nothing on standard output. $said has its
# standard error.
ends()
{
	local wanted=$1 status=0
	shift
	"$burstscope" import "$@" >"$tmp/stdout" 2>"$tmp/said" || status=$?
	said=$(<"$tmp/said")
	((status == wanted)) || wrong "import $* ends with $status, not $wanted: $said"
	[[ ! -s $tmp/stdout ]] || wrong "import $* prints $(<"$tmp/stdout")"
}

# refuses STATUS WORDS ARGUMENT...: import must end with STATUS and one line with WORDS, and leave no file.
refuses()
{
	local wanted=$1 words=$2 before after
	shift 2

	before=$(ls -lA --time-style=full-iso "$out")
	ends "$wanted" "$@"
	[[ $said == 'burstscope: import: '* && $said != *$'\n'* ]] || wrong "import $* says not one line: $said"
	[[ $said == *"$words"* ]] || wrong "import $* does not say '$words': $said"
	after=$(ls -lA --time-style=full-iso "$out")
	[[ $before == "$after" ]] || wrong "import $* leaves something: $after"
}

# whole DB: the database must pass all checks.
whole()
{
	local found

	found=$(sqlite3 -readonly "$1" 'PRAGMA integrity_check') || true
	[[ $found == ok ]] || wrong "$1 is not whole: $found"
	found=$(sqlite3 -readonly "$1" <"$check" 2>&1) || true
	[[ ! $found ]] || wrong "$1: $(head -5 <<<"$found")"
}

# takes ARGUMENT...: import must make $out/db, whole, as the only file there.
takes()
{
	rm -f "$out"/*
	ends 0 -o "$out/db" "$@"
	[[ $(ls -A "$out") == db ]] || wrong "import $* leaves $(ls -A "$out")"
	whole "$out/db"
}

# has N QUERY: the database must answer N.
has()
{
	local found

	found=$(sqlite3 -readonly "$out/db" "$2") || true
	[[ $found == "$1" ]] || wrong "not $1 but $found: $2"
}

trusts() { [[ $said == *"$1"* ]] || wrong "not said: $1 (but: $said)"; }

# hidden COMMAND...: run it where it finds no session daemon.
hidden()
{
	if ((EUID == 0)); then
		# shellcheck disable=SC2016 # for the inner shell
		LTTNG_UST_REGISTER_TIMEOUT=0 exec unshare --mount sh -c 'mount -t tmpfs none /var/run/lttng && exec "$0" "$@"' "$@"
	else
		LTTNG_HOME=$tmp/nobody LTTNG_UST_REGISTER_TIMEOUT=0 exec "$@"
	fi
}

# ---- recordings ----

streams()
{
	local path

	for path in burst sync async fenced; do echo "{\"name\": \"$path\", \"model\": \"mlp\", \"path\": \"$path\"}"; done | paste -sd ,
}
scenario few '{"executions": 50, "apps": [{"name": "a", "streams": ['"$(streams)"']}]}'
scenario some '{"executions": 400, "apps": [{"name": "a", "streams": ['"$(streams)"']}]}'
scenario many '{"executions": 10000, "apps": [{"name": "a", "streams": [{"model": "mlp"}, {"name": "b", "model": "mlp"}]}]}'

start_sessiond

quietly lttng --no-sessiond create foreign --output="$tmp/foreign"
quietly lttng --no-sessiond enable-event --session foreign --userspace 'lttng_ust_statedump:*'
quietly lttng --no-sessiond start foreign
start_service "$service"
stop_service
end_session foreign

quietly lttng --no-sessiond create none --output="$tmp/none"
quietly lttng --no-sessiond enable-event --session none --userspace 'nnburst:exec_submit'
quietly lttng --no-sessiond start none
start_service "$service"
stop_service
end_session none

session short DEBUG_FUNCTION
start_service "$service"
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/some.json"
stop_service
end_session short

quietly lttng --no-sessiond create pieces --output="$tmp/pieces" # recorded in many packets
quietly lttng --no-sessiond enable-channel --session pieces --userspace --subbuf-size 16K --num-subbuf 64 small
quietly lttng --no-sessiond enable-event --session pieces --channel small --userspace 'nnburst:*' --loglevel=DEBUG_FUNCTION
quietly lttng --no-sessiond start pieces
start_service "$service"
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/few.json"
stop_service
end_session pieces

session other DEBUG_FUNCTION
session twin DEBUG_FUNCTION
session compact NOTICE exec_client exec_service
start_service "$service"
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/few.json"
for each in twin compact; do end_session "$each"; done
end_session other
session next DEBUG_FUNCTION
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/few.json"
stop_service
end_session next

session client DEBUG_FUNCTION
(hidden "$service" --socket "$tmp/hidden" --app-identity pid) &
daemon=$!
until [[ -S $tmp/hidden ]]; do
	kill -0 "$daemon" 2>"$tmp/null" || { echo 'nnburstd does not start'; exit 1; }
	sleep 0.05
done
quietly "$load" --quiet --socket "$tmp/hidden" "$tmp/few.json"
stop_service
end_session client

session service DEBUG_FUNCTION
start_service "$service"
(hidden "$load" --quiet --socket "$tmp/socket" "$tmp/few.json") >"$tmp/null"
stop_service
end_session service

session streams DEBUG_FUNCTION
quietly "$many_streams" "$provider" 10000
end_session streams

session long DEBUG_FUNCTION
start_service "$service"
quietly "$load" --quiet --socket "$tmp/socket" "$tmp/many.json"
stop_service
end_session long

# ---- inputs that are no traces ----

mkdir "$tmp/empty" "$tmp/text"
echo 'no trace' | tee "$tmp/text/file" >"$tmp/file"
refuses 4 "$tmp/empty" -o "$out/db" "$tmp/empty"
refuses 4 "$tmp/text" -o "$out/db" "$tmp/text"
refuses 4 "$tmp/file" -o "$out/db" "$tmp/file"
refuses 4 "$tmp/missing" -o "$out/db" "$tmp/missing"
refuses 4 "$tmp/foreign" -o "$out/db" "$tmp/foreign"
refuses 4 "$tmp/empty" -o "$out/db" "$tmp/short" "$tmp/empty"
refuses 4 "$tmp/missing" "$tmp/missing"
cp -r "$tmp/short" "$tmp/locked"
# A stream whose file is missing, or not a file, has lost all its events; no other part of the trace shows that.
cp -r "$tmp/short" "$tmp/part"
stream=$(find "$tmp/part" -type f -path '*/index/*.idx' -size +16c | sort | head -n 1)
stream=$(dirname "$(dirname "$stream")")/$(basename "$stream" .idx)
rm "$stream"
refuses 4 "$stream is missing" -o "$out/db" "$tmp/part"
mkfifo "$stream"
refuses 4 "$stream is no regular file" -o "$out/db" "$tmp/part"
rm "$stream"
ln -s "$tmp/missing" "$stream"
refuses 4 "$stream is missing" -o "$out/db" "$tmp/part"

if ((EUID == 0)); then # root can read everything
	cp "$burstscope" "$(dirname "$burstscope")/burstscope-importer" "$tmp"
	chmod 755 "$tmp" "$tmp"/burstscope*
	chmod -R go-rwx "$tmp/locked"
	own=$burstscope owns=$out out=$tmp/of-nobody
	mkdir -m 700 "$out" && chown 65534:65534 "$out"
	nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/burstscope" "$@"; }
	burstscope=nobody
	refuses 4 'Permission denied' -o "$out/db" "$tmp/locked"
	burstscope=$own out=$owns
else
	chmod -R a-rwx "$tmp/locked"
	refuses 4 'Permission denied' -o "$out/db" "$tmp/locked"
	chmod -R u+rwx "$tmp/locked"
fi

# ---- incomplete traces ----

takes "$tmp/none"
has 0 'SELECT count(*) FROM execution'
trusts 'there are no executions'

takes "$tmp/client"
has 'client' 'SELECT DISTINCT sides FROM execution'
has '200|1' "SELECT count(*), min(complete) FROM execution WHERE path <> 'prepare'"
takes "$tmp/service"
has 'service' 'SELECT DISTINCT sides FROM execution'
has '200|1' "SELECT count(*), min(complete) FROM execution WHERE path <> 'prepare'"
takes "$tmp/streams"
has 10000 'SELECT count(*) FROM stream WHERE closed IS NULL'
has 10000 "SELECT count(*) FROM execution WHERE quality = 'open'"

takes "$tmp/short"
has '1600|0' "SELECT count(*), sum(NOT complete) FROM execution WHERE path <> 'prepare'"
all=$(sqlite3 "$out/db" 'SELECT sum(events) FROM trace')
streams=("$tmp"/short/ust/uid/*/*/bursts* "$tmp"/short/ust/uid/*/*/channel0_*)
for each in "${!streams[@]}"; do [[ -f ${streams[each]} ]] || unset "streams[each]"; done
((${#streams[@]})) || wrong 'no streams recorded'
stream=$(ls -S "${streams[@]}" | head -1)
size=$(stat -c %s "$stream")

# An index is a hint: whatever it has, all packets are read, and each once.
pieces=$(ls -S "$tmp"/pieces/ust/uid/*/*/small_? | head -1)
index=$(dirname "$pieces")/index/$(basename "$pieces").idx
rows=$((($(stat -c %s "$index") - 16) / 72))
((rows > 3)) || wrong "only $rows packets"
takes "$tmp/pieces"
pieces_told=$(sqlite3 "$out/db" 'SELECT (SELECT sum(events) FROM trace), (SELECT count(*) FROM execution), (SELECT count(*) FROM loss)')

# hinted COMMAND...: change the index of a copy of that recording by COMMAND, which gets its name; the import must be
# the same.
hinted()
{
	rm -rf "$tmp/hinted"
	cp -r "$tmp/pieces" "$tmp/hinted"
	"$@" "$tmp/hinted${index#"$tmp/pieces"}"
	takes "$tmp/hinted"
	has "$pieces_told" 'SELECT (SELECT sum(events) FROM trace), (SELECT count(*) FROM execution), (SELECT count(*) FROM loss)'
}
rows_twice() { for ((i = 0; i + 1 < rows; i += 2)); do dd if="$index" of="$1" bs=8 skip=$((2 + 9 * i)) seek=$((11 + 9 * i)) count=9 conv=notrunc status=none; done; }
rows_again()
{
	tail -c +17 "$index" >>"$1"
	cat "$pieces" >>"$(dirname "$1")/../$(basename "$1" .idx)"
}
in_its_place() { rm "${!#}" && "$@"; }
hinted rows_twice
trusts "1 of LTTng's indices was ignored"
hinted rows_again
trusts "$rows packets were found twice and read once"
hinted in_its_place mkfifo
hinted in_its_place mkdir
hinted in_its_place ln -s /dev/zero
hinted in_its_place ln -s "$tmp/missing"
rm -rf "$tmp/hinted"
cp -r "$tmp/pieces" "$tmp/hinted"
mkfifo "$tmp/hinted/burstscope.record"
takes "$tmp/hinted"
timeout -s KILL 60 "$burstscope" doctor "$tmp/hinted" >"$tmp/stdout" 2>"$tmp/said" || wrong "doctor of a trace that has a pipe in it: $(<"$tmp/said")"
rm "$tmp/hinted.db" "$tmp"/hinted/ust/uid/*/*/metadata
mkfifo "$(echo "$tmp"/hinted/ust/uid/*/*)/metadata"
refuses 4 'no directory there has a file named metadata' -o "$out/db" "$tmp/hinted"
takes "$tmp/short"

# cut_at WHERE WHICH: copy the recording, with that file cut there.
cut_at()
{
	rm -rf "$tmp/cut"
	cp -r "$tmp/short" "$tmp/cut"
	truncate -s "$1" "$tmp/cut${2#"$tmp/short"}"
}

for at in 1 7 100 4095 4096 5000 $((size / 2)) $((size / 2 + 1)) $((size - 5000)) $((size - 1)); do
	cut_at "$at" "$stream"
	takes "$tmp/cut"
	trusts 'the end of 1 trace is missing'
	((at == size - 1)) || has 1 "SELECT sum(events) < $all FROM trace" # only padding follows the last event
done
metadata=$(echo "$tmp"/short/ust/uid/*/*/metadata)
size=$(stat -c %s "$metadata")
for at in 0 1 10 100 1000 4095 $((size / 2)) $((size - 5000)); do
	cut_at "$at" "$metadata"
	refuses 4 "$tmp/cut" -o "$out/db" "$tmp/cut"
done

# Bytes replaced by others: the trace is read, or refused with one line.
RANDOM=8
for each in {1..24}; do
	rm -rf "$tmp/cut"
	cp -r "$tmp/short" "$tmp/cut"
	file=$stream
	((each % 4)) || file=$metadata
	size=$(stat -c %s "$file")
	for _ in 1 2 3; do
		printf "\\x$(printf %02x $((RANDOM % 256)))" |
			dd of="$tmp/cut${file#"$tmp/short"}" bs=1 conv=notrunc seek=$(((RANDOM << 15 | RANDOM) % size)) status=none
	done
	rm -f "$out"/*
	status=0
	"$burstscope" import -q -o "$out/db" "$tmp/cut" >"$tmp/stdout" 2>"$tmp/said" || status=$?
	case $status in
	0) whole "$out/db" ;;
	4) [[ $(wc -l <"$tmp/said") == 1 && ! $(ls -A "$out") ]] || wrong "spoilt $each: $(<"$tmp/said")" ;;
	*) wrong "spoilt $each: ends with $status: $(<"$tmp/said")" ;;
	esac
done

# A trace that is still being written: LTTng holds back the end of the metadata until the session stops. The streams
# have their beginning.
session live DEBUG_FUNCTION
start_service "$service"
"$load" --quiet --socket "$tmp/socket" --duration 60s transport >"$tmp/null" &
load_pid=$!
trap 'stop_jobs; kill -INT "$load_pid" 2>"$tmp/null" || true; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT
until (($(du -sb "$tmp/live" | cut -f 1) > 5000000)); do
	kill -0 "$load_pid" 2>"$tmp/null" || { echo 'nnburst-load ends before there is anything to read'; exit 1; }
	sleep 0.05
done
refuses 4 'lttng stop' -o "$out/db" "$tmp/live"
for each in 1 2 3; do cp -r "$tmp/live" "$tmp/live$each"; done
kill -INT "$load_pid"
await_end "$load_pid" 'the load ends' || true
trap 'stop_jobs; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT
stop_service
quietly lttng --no-sessiond stop live
takes "$tmp/live" # stopped, but not destroyed yet
quietly lttng --no-sessiond destroy live
metadata=$(echo "$tmp"/live/ust/uid/*/*/metadata)
for each in 1 2 3; do # one stream ends before the other, and perhaps the trace does not show it: then no more than a whole database is wanted
	cp "$metadata" "$tmp/live$each${metadata#"$tmp/live"}"
	rm -f "$out"/*
	ends 0 -o "$out/db" "$tmp/live$each"
	has ok 'PRAGMA integrity_check'
	has 1 'SELECT count(*) > 0 FROM execution'
done

# ---- two traces ----

rm -f "$out"/*
refuses 4 'twice' -o "$out/db" "$tmp/short" "$tmp/short"
takes "$tmp/short"
refuses 4 'already' --append -o "$out/db" "$tmp/short"
refuses 4 'already' --append -o "$out/db" "$tmp/other" "$tmp/short"
ends 0 --append -o "$out/db" "$tmp/other"
whole "$out/db"
has 2 'SELECT count(*) FROM trace'
one=$(sqlite3 "$out/db" 'SELECT count(*) FROM execution')
ends 0 -o "$out/db" "$tmp/other" "$tmp/short"
whole "$out/db"
has "$one" 'SELECT count(*) FROM execution'
# Two sessions at the same time are one run; one session after the other is not.
rm "$out/db"
for each in twin compact; do refuses 4 'are of the same run' -o "$out/db" "$tmp/other" "$tmp/$each"; done
takes "$tmp/other"
for each in twin compact; do refuses 4 'in the database already' --append -o "$out/db" "$tmp/$each"; done
has 1 'SELECT count(*) FROM trace'
ends 0 --append -o "$out/db" "$tmp/next"
whole "$out/db"
takes "$tmp/other" "$tmp/next"
takes "$tmp/short"
cp -r "$tmp/short" "$tmp/copy"
takes "$tmp/short" "$tmp/copy" # packets that come twice are read once
has "$all" 'SELECT sum(events) FROM trace'
rm -r "$out/db" "$tmp/copy"
ends 0 --append -o "$out/db" "$tmp/short" # without a database, one is made
whole "$out/db"

# ---- outputs ----

rm -f "$out"/*
mkdir "$tmp/directory"
refuses 2 "$tmp/directory" -o "$tmp/directory" "$tmp/short"
refuses 5 "$tmp/nowhere" -o "$tmp/nowhere/db" "$tmp/short"
refuses 5 "$tmp/file" -o "$tmp/file/db" "$tmp/short"
cp "$tmp/file" "$out/notes"
refuses 2 "$out/notes" -o "$out/notes" "$tmp/short"
refuses 4 "$out/notes" --append -o "$out/notes" "$tmp/short"
rm "$out/notes"
(
	ulimit -f 64
	refuses 5 "$out/db" -o "$out/db" "$tmp/short"
	((failures == 0))
) || failures=$((failures + 1))
if ((EUID == 0)); then
	for size in 16k 64k 256k 1m; do
		mount -t tmpfs -o size=$size small "$out"
		refuses 5 'space left' -o "$out/db" "$tmp/long"
		umount "$out"
	done
	mount -t tmpfs -o ro small "$out"
	refuses 5 "$out" -o "$out/db" "$tmp/short"
	umount "$out"
else
	chmod a-w "$out"
	refuses 5 "$out" -o "$out/db" "$tmp/short"
	chmod u+w "$out"
fi

# ---- interrupted imports ----

# aside [TRACE]: import it, or the long one, in the background as $pid. The import and its child hold a lock until they
# end.
aside()
{
	(
		exec 9>"$tmp/lock"
		flock 9
		# what a shell starts on the side is not told of Ctrl-C
		exec env --default-signal=INT "$burstscope" import -q -o "$out/db" "${1:-$tmp/long}"
	) >"$tmp/stdout" 2>"$tmp/said" &
	pid=$!
}

# aside_ends: wait for its end, with $status, and for its child's.
aside_ends()
{
	status=0
	await_end "$pid" 'an import aside ends' 2>"$tmp/null" || status=$?
	flock "$tmp/lock" true
}

# in_the_middle SIGNAL MS: send the import that signal after MS. Prints whether the import has set its handler for
# TERM, or is over.
handles_term()
{
	local caught

	caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null) || return 0
	[[ ! $caught ]] || ((16#$caught >> 14 & 1))
}

in_the_middle()
{
	aside
	sleep "$(printf '%d.%03d' $(($2 / 1000)) $(($2 % 1000)))"
	# On a machine with other work the program may not have begun yet.
	(($2 == 0)) || until handles_term; do sleep 0.01; done
	kill "-$1" "$pid" 2>"$tmp/null" || true
	aside_ends
}

takes "$tmp/long"
began=$(date +%s%N)
aside
aside_ends
takes_ms=$((($(date +%s%N) - began) / 1000000))
for signal in INT TERM; do
	stopped=0
	for ((i = 0; i < 8; i++)); do
		rm -f "$out"/*
		in_the_middle "$signal" $((takes_ms * i / 8))
		case $status in
		0) whole "$out/db" ;;
		130)
			stopped=$((stopped + 1))
			[[ ! $(ls -A "$out") ]] || wrong "$signal leaves $(ls -A "$out")"
			[[ $(wc -l <"$tmp/said") == 1 ]] || ((i == 0)) || wrong "$signal: $(<"$tmp/said")"
			;;
		143) ((i == 0)) || wrong "$signal kills it" ;; # before it had set its handler
		*) wrong "$signal: it ends with $status: $(<"$tmp/said")" ;;
		esac
	done
	((stopped)) || wrong "$signal never stopped an import"
done

# The process that reads traces crashes: status 4, one line, and no file is left.
crash()
{
	local child=

	rm -f "$out"/*
	aside
	until child=$(pgrep -P "$pid") || ! kill -0 "$pid" 2>"$tmp/null"; do :; done
	kill -SEGV "$child" 2>"$tmp/null" || true
	aside_ends
}
for _ in {1..50}; do
	crash
	((status == 0)) || break # the import was faster
done
[[ $status == 4 && $(<"$tmp/said") == *"$tmp/long cannot be read: "*crashed* && $(wc -l <"$tmp/said") == 1 ]] || wrong "a crash: $(<"$tmp/said")"
[[ ! $(ls -A "$out") ]] || wrong "a crash leaves $(ls -A "$out")"

# A cut trace is copied to a directory in $TMPDIR and read there. A crash leaves no such directory; after a kill, the
# next import removes it.
cp -r "$tmp/long" "$tmp/torn"
torn=$(find "$tmp/torn" -type f -size +64k ! -name metadata ! -path '*/index/*' | head -n 1)
truncate -s -100 "$torn"
mkdir "$tmp/scratch"

# torn_ends SIGNAL VICTIM: import a cut trace; its VICTIM (import, importer) gets SIGNAL when the directory exists.
torn_ends()
{
	local victim=

	rm -f "$out"/*
	TMPDIR=$tmp/scratch aside "$tmp/torn"
	until [[ $(ls -A "$tmp/scratch") ]] || ! kill -0 "$pid" 2>"$tmp/null"; do :; done
	victim=$pid
	[[ $2 == import ]] || victim=$(pgrep -P "$pid") || true
	[[ ! $victim ]] || kill "-$1" "$victim" 2>"$tmp/null" || true
	aside_ends
}
for _ in {1..20}; do
	torn_ends SEGV importer
	((status == 0)) || break # the import was faster
done
((status == 4)) || wrong "a crash on what is cut: $status: $(<"$tmp/said")"
[[ ! $(ls -A "$tmp/scratch") ]] || wrong "a crash leaves $(ls -A "$tmp/scratch")"
for _ in {1..20}; do
	torn_ends KILL import
	((status == 0)) || break
done
((status == 137)) || wrong "a kill: $status: $(<"$tmp/said")"
[[ $(ls -A "$tmp/scratch") ]] || wrong "a kill leaves nothing: what is there to be removed?"
TMPDIR=$tmp/scratch ends 0 -o "$out/db" "$tmp/torn"
[[ ! $(ls -A "$tmp/scratch") ]] || wrong "an import after a kill leaves $(ls -A "$tmp/scratch")"
rm -f "$out"/*

# A killed import leaves the old database unchanged to the last byte; the next import removes the killed one's files.
takes "$tmp/short"
old=$(sha256sum "$out/db")
for ((i = 0; i < 8; i++)); do
	in_the_middle KILL $((takes_ms * i / 8))
	if ((status == 137)); then
		[[ $(sha256sum "$out/db") == "$old" ]] && continue
		whole "$out/db" # the new database was there already
		takes "$tmp/short"
		old=$(sha256sum "$out/db")
	else
		break # the import was faster
	fi
done
ends 0 -o "$out/db" "$tmp/short"
[[ $(ls -A "$out") == db ]] || wrong "an import after a kill leaves $(ls -A "$out")"
whole "$out/db"

((failures == 0)) || exit 1
echo 'import_robust.sh: all as it should be'
