#!/usr/bin/env bash
# viewer_input.sh BURSTSCOPE TRACE_FROM_TEXT -- the input of burstscope when it is given a trace, or nothing: where it
# makes the database, when it makes it again, and which files it never touches.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
trace_from_text=$2
tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp" 2>/dev/null; rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
cp "$1" "$(dirname "$1")/burstscope-importer" "$tmp/" # where every user may run it
burstscope=$tmp/burstscope failures=0
export XDG_CACHE_HOME=$tmp/cache LC_ALL=C.UTF-8

wrong()
{
	echo "viewer_input.sh: ${BASH_LINENO[*]}: $*"
	failures=$((failures + 1))
}

# asked N WORDS ARGUMENT...: the answer must have N executions; standard error must have WORDS, or be empty where they
# are.
asked()
{
	local n=$1 words=$2 status=0 said
	shift 2
	"$burstscope" sql "$@" --format csv 'SELECT count(*) FROM execution' >"$tmp/out" 2>"$tmp/said" </dev/null || status=$?
	said=$(<"$tmp/said")
	((status == 0)) || { wrong "sql $* ends with $status: $said"; return 0; }
	[[ $(tail -n 1 "$tmp/out") == "$n" ]] || wrong "sql $*: $(tail -n 1 "$tmp/out") executions, not $n"
	[[ $words && $said == *"$words"* || ! $words && ! $said ]] || wrong "sql $* says: $said, not: $words"
}

unsaid() { ! grep -qF -- "$1" "$tmp/said" || wrong "it says: $(<"$tmp/said")"; }

# older FILE, newer FILE...: make FILE older, or newer, than all others.
older() { find "$1" -exec touch -d '2020-01-01' {} +; }
newer() { find "$1" -exec touch -d '2037-01-01' {} +; }
inode() { stat -c %i "$1"; }

# trace NAME DIRECTORY: make a trace of a host of its own, because all of them use the same numbers.
trace() { "$trace_from_text" -e full -h "$1" -s "$1" "$2" <"$here/../golden/$1.trace"; }

mkdir "$tmp/there"
cd "$tmp/there"
trace camera camera
trace unfair unfair

# A trace is imported once, into a database beside it.
asked 178 'importing camera into '"$tmp/there/camera.db" camera
[[ -f camera.db ]] || wrong 'no database beside the trace'
grep -q '178 executions' "$tmp/said" || wrong "it does not say what came of it: $(<"$tmp/said")"
made=$(inode camera.db)
asked 178 '' camera
asked 178 '' camera/
asked 178 '' ../there/camera
[[ $(inode camera.db) == "$made" ]] || wrong 'made again, though nothing has changed'
(cd camera && asked 178 '' .)

# A case that burstscope watch kept has its database in it.
mkdir -p cases/20261123-030600-042
cp camera.db cases/20261123-030600-042/trace.db
echo '{}' >cases/20261123-030600-042/case.json
asked 178 '' cases/20261123-030600-042
[[ ! -e cases/20261123-030600-042.db ]] || wrong 'a case is imported again'

# The database is made again when the trace has changed since.
newer camera
asked 178 'importing camera into' camera
[[ $(inode camera.db) != "$made" ]] || wrong 'not made again, though the trace is newer'
older camera

[[ ! -e ../cache ]] || wrong 'something is in the cache'

# A database of another build may have any contents: it stays.
printf '\x00\x00\x00\x00' | dd of=camera.db bs=1 seek=60 conv=notrunc status=none
asked 178 "importing camera into $tmp/cache/burstscope/camera-" camera
asked 178 '' camera

# Another program's file of that name stays; the database is made in the cache.
echo 'my notes' >unfair.db
asked 20 "importing unfair into $tmp/cache/burstscope/unfair-" unfair
[[ $(<unfair.db) == 'my notes' ]] || wrong 'a file that is not ours was replaced'
asked 20 '' unfair
# A database of ours with other traces stays, too.
rm unfair.db
"$burstscope" import -q -o unfair.db camera unfair
asked 20 '' unfair
[[ $("$burstscope" sql --format csv unfair.db 'SELECT count(*) FROM trace' | tail -n 1) == 2 ]] || wrong 'two traces have become one'

# The newest recording: a trace or a database; other files are passed over.
rm -f ./*.db
older unfair
newer camera
echo text >newest.db
touch -d '2038-01-01' newest.db
mkdir -p zzz/deep
touch -d '2038-01-01' zzz
# A directory of watch's cases, each with a trace and a database, is not a recording.
mkdir -p burstscope-cases/20380101-000000-000
cp -r camera burstscope-cases/20380101-000000-000/trace
"$burstscope" import -q -o burstscope-cases/20380101-000000-000/trace.db camera
echo '{}' >burstscope-cases/20380101-000000-000/case.json
find burstscope-cases -exec touch -d '2038-01-01' {} +
asked 178 'reading camera, the newest recording here'
touch -d '2037-06-01' camera.db
asked 178 'reading camera.db, the newest recording here'
unsaid ', once'
asked 178 '' -q
newer unfair
touch -d '2037-12-01' unfair/metadata
asked 20 'reading unfair, the newest recording here'
unsaid camera

# Where the directory cannot be written, the database is made in the cache; if that fails, too, there is an error.
if ((EUID == 0)) && command -v setpriv >/dev/null; then
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
elif ((EUID != 0)); then
	as=(env)
	chmod a-w "$tmp/there"
fi
if [[ ${as:-} ]]; then
	rm -rf "$tmp/cache" camera.db
	older camera
	chmod -R a+rX .
	mkdir -m 700 "$tmp/cache"
	((EUID != 0)) || chown 65534:65534 "$tmp/cache"
	run=$burstscope
	printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${as[*]}" "$run" >"$tmp/as"
	chmod 755 "$tmp/as"
	burstscope=$tmp/as
	asked 178 "importing camera into $tmp/cache/burstscope/camera-" camera
	asked 178 '' camera
	[[ ! -e camera.db ]] || wrong 'made where nothing may be made'
	status=0
	XDG_CACHE_HOME=/proc/none "$burstscope" sql camera 'SELECT 1' >"$tmp/out" 2>"$tmp/said" || status=$?
	((status == 5)) && grep -q 'no place for a database' "$tmp/said" && [[ ! -s $tmp/out ]] && (($(wc -l <"$tmp/said") == 1)) ||
		wrong "no place at all: $status, $(<"$tmp/said")"
	burstscope=$run
fi

# diff imports both recordings.
cd "$tmp"
mkdir two
cd two
trace camera a
trace camera b
"$burstscope" diff a b >"$tmp/out" 2>"$tmp/said" || wrong "diff of two traces: $(<"$tmp/said")"
[[ -f a.db && -f b.db ]] || wrong 'diff of two traces does not import both'

# Each whole query that needs nothing but a recording has a name and a description.
cd "$tmp/there"
for report in "$here"/../../viewer-cli/reports/*.sql; do
	name=$(basename "$report" .sql)
	holes=$(grep -o '@[a-z_0-9]*@' "$report" | sort -u | grep -vx '@with@\|@began@\|@only_preempted@\|@only_victims@' || true)
	"$burstscope" sql --list --format csv | grep -q "^$name,\"*[a-z]" && named=1 || named=0
	grep -q '@with@' "$report" || holes='the query that it is a part of'
	[[ $holes && $named == 0 || ! $holes && $named == 1 ]] || wrong "$name: named: $named; what it needs: $holes"
	if ((named)); then
		"$burstscope" sql -q camera "$name" >"$tmp/out" 2>"$tmp/said" || wrong "$name: $(<"$tmp/said")"
	fi
done

((failures == 0)) || exit 1
echo 'viewer_input.sh: all as it should be'
