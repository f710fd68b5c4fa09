#!/usr/bin/env bash
# kills.sh BURSTSCOPE MANY_STREAMS PROVIDER -- recorders and importers killed at any time: older files stay as they
# were, the files of a killed one do not hinder the next one, which removes them, and a recording can be read up to the
# kill.
#
# $NNB_KILLS of each (5); with $NNB_SOAK_SECONDS, as many more as there is time for.
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

sessions() { lttng --no-sessiond list 2>/dev/null | grep -c 'burstscope-' || true; }

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

	"$burstscope" import -o killed.db "$1" >"$tmp/stdout" 2>"$tmp/said" || status=$?
	case $status in
	0 | 3) whole killed.db ;;
	4) [[ $(wc -l <"$tmp/said") == 1 ]] || wrong "import $1: $(<"$tmp/said")" ;;
	*) wrong "import of a recording that was killed ends with $status: $(<"$tmp/said")" ;;
	esac
	rm -f killed.db*
}

# records: a recorder that is not killed must record all 33 events, and leave no session of killed ones.
records()
{
	"$burstscope" record -o good -- "$many" "$provider" 10 >"$tmp/stdout" 2>"$tmp/said" || wrong "record after a kill: $(<"$tmp/said")"
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

record_kills=0
start_sessiond
while more "$record_kills" 60; do
	"$burstscope" record -o "killed-$record_kills" -- "$many" "$provider" 3000 >"$tmp/stdout" 2>"$tmp/said" &
	recorder=$!
	after_ms $((RANDOM % 700))
	kill -9 "$recorder" 2>"$tmp/null" || true
	status=0
	await_end "$recorder" 'a recorder ends' 2>"$tmp/null" || status=$?
	((status == 137 || status == 0)) || wrong "a recorder that is killed ends with $status: $(<"$tmp/said")"
	[[ ! -d killed-$record_kills ]] || readable "killed-$record_kills"
	record_kills=$((record_kills + 1))
	((record_kills % 5)) || records
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

mkdir "$tmp/scratch"
trace short 10
trace long 20000
(import "$tmp/long")
began=$(date +%s%N)
(import "$tmp/long")
takes_ms=$((($(date +%s%N) - began) / 1000000))
whole "$tmp/out/db"
new=$(sqlite3 "$tmp/out/db" 'SELECT count(*) FROM stream')
(import "$tmp/short")
old=$(sha256sum "$tmp/out/db")
import_kills=0 stopped=0
while more "$import_kills" 100; do
	import "$tmp/long" >"$tmp/stdout" 2>"$tmp/said" &
	importer=$!
	after_ms $((RANDOM % (takes_ms + 20)))
	victim=$importer
	((RANDOM % 2)) || victim=$(pgrep -P "$importer" || true)
	[[ ! $victim ]] || kill -9 "$victim" 2>"$tmp/null" || true
	status=0
	await_end "$importer" 'an importer ends' 2>"$tmp/null" || status=$?
	import_kills=$((import_kills + 1))
	((status == 0 || status == 5 || status == 137)) || wrong "an importer that is killed ends with $status: $(<"$tmp/said")"
	((status == 0)) || stopped=$((stopped + 1))
	if [[ $(sha256sum "$tmp/out/db") != "$old" ]]; then # the import was faster
		whole "$tmp/out/db"
		[[ $(sqlite3 "$tmp/out/db" 'SELECT count(*) FROM stream') == "$new" ]] || wrong 'half a database is there'
		(import "$tmp/short") || wrong 'an import after a kill fails'
		old=$(sha256sum "$tmp/out/db")
	fi
done
(import "$tmp/short") || wrong 'an import after kills fails'
[[ $(ls -A "$tmp/out") == db ]] || wrong "kills leave $(ls -A "$tmp/out")"
[[ ! $(ls -A "$tmp/scratch") ]] || wrong "kills leave $(ls -A "$tmp/scratch")"
((stopped)) || wrong 'no import was killed'

echo "counted: $record_kills killed recorders"
echo "counted: $stopped killed importers"
echo "counted: $((import_kills - stopped)) importers that ended before"
((failures == 0)) || exit 1
