#!/usr/bin/env bash
# kills.sh BURSTSCOPE MANY_STREAMS PROVIDER -- recorders and importers killed at any time: older files stay as they
# were, the files of a killed one do not hinder the next one, which removes them, and a recording can be read up to the
# kill.
#
# $NNB_KILLS of each (5); with $NNB_SOAK_SECONDS, as many more as there is time for. A session daemon that does not answer any more is counted, and
# replaced.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
command -v sqlite3 >/dev/null || { echo 'skipped: no sqlite3'; exit 77; }
burstscope=$1 many=$2 provider=$3
check=$(dirname "$0")/../analyzer/check.sql
kills=${NNB_KILLS:-5} seconds=${NNB_SOAK_SECONDS:-0}
RANDOM=${NNB_SEED:-1}
mkdir "$tmp/work" "$tmp/out"
cd "$tmp/work"

# more N SHARE: true if another kill is to follow after N, within the first SHARE percent of the time.
more() { (($1 < kills || SECONDS * 100 < seconds * $2)); }

# after_ms MS: wait that long.
after_ms() { sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"; }

# whole DB: the database must pass all checks.
whole()
{
	local found

	found=$(sqlite3 -readonly "$1" 'PRAGMA integrity_check' 2>&1) || true
	[[ $found == ok ]] || wrong "$1 is not whole: $found"
	found=$(sqlite3 -readonly "$1" <"$check" 2>&1) || true
	[[ ! $found ]] || wrong "$1: $(head -5 <<<"$found")"
}

# lttng ARGUMENT...: for a minute at most, because the session daemon may never answer.
lttng() { timeout 60 lttng "$@"; }

sessions() { lttng --no-sessiond list 2>/dev/null | grep -c 'burstscope-' || true; }

# completes WHAT COMMAND...: run the command, with its output in $tmp/stdout and $tmp/said; WHAT must happen within a minute. The status is the command's.
completes()
{
	"${@:2}" >"$tmp/stdout" 2>"$tmp/said" &
	await_end $! "$1" 2>"$tmp/null"
}

# ---- recorders ----

# remove_killed: the directories of killed recorders, whose sessions are destroyed: the consumer daemon may create a file in one for a moment still. Not
# earlier: if a stream file of a channel cannot be created, and another one was, lttng-consumerd 2.13 never gives up the trace chunk. lttng-sessiond then
# waits for the chunk's end for ever, and does not end itself (docs/soak.md, kills).
remove_killed()
{
	local tries=0

	until rm -rf killed-* 2>"$tmp/said"; do
		if ((++tries == 100)); then
			wrong "directories of killed recorders cannot be removed: $(<"$tmp/said")"
			return
		fi
		after_ms 50
	done
}

# readable RECORDING: a killed recording must give a database, or one line with the reason.
readable()
{
	local status=0

	completes "an import of $1 ends" "$burstscope" import -o killed.db "$1" || status=$?
	case $status in
	0 | 3) whole killed.db ;;
	4) [[ $(wc -l <"$tmp/said") == 1 ]] || wrong "import $1: $(<"$tmp/said")" ;;
	*) wrong "import of a recording that was killed ends with $status: $(<"$tmp/said")" ;;
	esac
	rm -f killed.db*
}

# sessiond_answers: false if the session daemon does not answer within a minute.
sessiond_answers()
{
	local status=0

	lttng --no-sessiond list >"$tmp/null" 2>&1 || status=$?
	((status != 124))
}

# replace_sessiond: start another session daemon in place of one that does not answer, and print in which system calls that one waits: LTTng
# hangs, and burstscope has lost nothing.
replace_sessiond()
{
	local thread

	hangs=$((hangs + 1))
	echo 'lttng-sessiond does not answer, and is replaced; its threads wait in'
	for thread in "/proc/$sessiond/task"/*; do echo "  $(<"$thread/comm"): $(<"$thread/wchan")"; done
	kill -9 "$sessiond" $(consumers)
	await_end "$sessiond" 'lttng-sessiond ends after SIGKILL' 2>"$tmp/null" || true
	start_sessiond
}

# records: a recorder that is not killed must record all 33 events, and leave no session of killed ones.
records()
{
	local before=$failures status=0

	completes 'a recording ends' "$burstscope" record -o good -- "$many" "$provider" 10 || status=$?
	if ! sessiond_answers; then
		failures=$before
		replace_sessiond
		rm -rf good good.db
		remove_killed
		return
	fi
	((status == 0)) || wrong "record after a kill: $(<"$tmp/said")"
	grep -qE '^recorded .*, 33 events,' "$tmp/said" || wrong "record after a kill: $(<"$tmp/said")"
	[[ $(sessions) == 0 ]] || wrong "a killed recorder's session is left"
	rm -rf good good.db
	remove_killed
}

# end_sessiond: it ends, or it is known of whom it waits for what: lttng-consumerd reports the trace chunks that it has lost.
end_sessiond()
{
	local before=$failures

	stop_sessiond
	((failures == before)) || grep -aE 'chunks are leaked|Failed to open stream file' "$tmp/sessiond.log" | sort | uniq -c || true
}

recorders=0 record_kills=0 hangs=0
start_sessiond
while more "$record_kills" 60; do
	"$burstscope" record -o "killed-$recorders" -- "$many" "$provider" 3000 >"$tmp/stdout" 2>"$tmp/said" &
	recorder=$!
	after_ms $((RANDOM % 700))
	kill -9 "$recorder" 2>"$tmp/null" || true
	status=0
	await_end "$recorder" 'a recorder ends' 2>"$tmp/null" || status=$?
	((status == 137 || status == 0)) || wrong "a recorder that is killed ends with $status: $(<"$tmp/said")"
	[[ ! -d killed-$recorders ]] || readable "killed-$recorders"
	recorders=$((recorders + 1))
	((status == 0)) || record_kills=$((record_kills + 1))
	((recorders % 5)) || records
done
records
end_sessiond

# ---- importers ----

# import TRACE: import into $tmp/out/db, with scratch files in $tmp/scratch.
import() { TMPDIR=$tmp/scratch exec "$burstscope" import -q -o "$tmp/out/db" "$1"; }

# trace NAME N: make a recording of a client's life, N times over.
trace()
{
	start_sessiond
	session "$1" INFO
	quietly "$many" "$provider" "$2"
	end_session "$1"
	stop_sessiond
}

# child_of PID: its child, or PID itself if there is none.
child_of()
{
	local child

	child=$(grep -lxs "PPid:[[:blank:]]*$1" /proc/[0-9]*/status | cut -d / -f 3) || true
	echo "${child:-$1}"
}

mkdir "$tmp/scratch"
trace short 10
trace long 20000
completes 'an import ends' import "$tmp/long"
began=$(date +%s%N)
completes 'an import ends' import "$tmp/long"
within_ms=$((($(date +%s%N) - began) / 1000000)) # of which the kill comes
whole "$tmp/out/db"
new=$(sqlite3 "$tmp/out/db" 'SELECT count(*) FROM stream')
completes 'an import ends' import "$tmp/short"
old=$(sha256sum "$tmp/out/db")
stopped=0 ended=0
while more "$stopped" 100; do
	import "$tmp/long" >"$tmp/stdout" 2>"$tmp/said" &
	importer=$!
	after_ms $((RANDOM % within_ms))
	victim=$importer
	((RANDOM % 2)) || victim=$(child_of "$importer")
	kill -9 $victim 2>"$tmp/null" || true
	status=0
	await_end "$importer" 'an importer ends' 2>"$tmp/null" || status=$?
	((status == 0 || status == 5 || status == 137)) || wrong "an importer that is killed ends with $status: $(<"$tmp/said")"
	# The times follow the load of the machine, so that about one importer of eleven ends before it is killed: the others are killed at any time, also
	# at their end.
	if ((status)); then
		stopped=$((stopped + 1)) within_ms=$((within_ms + (within_ms + 199) / 200))
	else
		ended=$((ended + 1)) within_ms=$((within_ms * 19 / 20 + 1))
	fi
	if [[ $(sha256sum "$tmp/out/db") != "$old" ]]; then # the import was faster
		whole "$tmp/out/db"
		[[ $(sqlite3 "$tmp/out/db" 'SELECT count(*) FROM stream') == "$new" ]] || wrong 'half a database is there'
		completes 'an import after a kill ends' import "$tmp/short" || wrong "an import after a kill fails: $(<"$tmp/said")"
		old=$(sha256sum "$tmp/out/db")
	fi
done
completes 'an import after kills ends' import "$tmp/short" || wrong "an import after kills fails: $(<"$tmp/said")"
[[ $(ls -A "$tmp/out") == db ]] || wrong "kills leave $(ls -A "$tmp/out")"
[[ ! $(ls -A "$tmp/scratch") ]] || wrong "kills leave $(ls -A "$tmp/scratch")"

echo "counted: $record_kills killed recorders"
echo "counted: $((recorders - record_kills)) recorders that ended before"
echo "counted: $stopped killed importers"
echo "counted: $ended importers that ended before"
echo "counted: $hangs session daemons that did not answer"
((failures == 0)) || exit 1
