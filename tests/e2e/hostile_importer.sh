#!/usr/bin/env bash
# hostile_importer.sh BURSTSCOPE HOSTILE_IMPORTER -- an importer that a trace has taken over: burstscope reports that
# at once, in printable characters, and neither crashes nor trusts it.
set -eu
tmp=$(mktemp -d)
children=$tmp/children
trap 'kill $(cat "$children" 2>/dev/null) 2>/dev/null; rm -rf "$tmp"' EXIT
cp "$1" "$tmp/burstscope"
cp "$2" "$tmp/burstscope-importer"
mkdir "$tmp/trace"
: >"$tmp/trace/metadata"
failures=0
export LC_ALL=C.UTF-8

wrong()
{
	echo "hostile_importer.sh: $*"
	failures=$((failures + 1))
}

# hears HOW STATUS WORDS: burstscope must end with STATUS within 10 s, print WORDS, and nothing that a terminal obeys.
hears()
{
	local how=$1 want=$2 words=$3 status=0 said
	HOSTILE=$how timeout 10 "$tmp/burstscope" import -o "$tmp/db" "$tmp/trace" >"$tmp/out" 2>"$tmp/said" </dev/null || status=$?
	said=$(<"$tmp/said")
	((status == want)) || wrong "$how: status $status and not $want: $said"
	[[ $said == *"$words"* ]] || wrong "$how: it says: $said, not: $words"
	LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]\|\xc2[\x80-\x9f]' "$tmp/said" "$tmp/out" && wrong "$how: it says what a terminal obeys"
	((${#said} < 1200)) || wrong "$how: it says ${#said} characters"
	[[ ! -e $tmp/db ]] || wrong "$how: there is a database"
	pgrep -f "^burstscope-importer .*$tmp/db" >>"$children" || true
}

hears endless 4 AAAA
hears escapes 4 'it \x1b]0;owned\x07 says \u009b2J'
hears positive 4 'has crashed on it'
hears negative 4 'has crashed on it'
hears 'nothing made' 4 'has crashed on it'
hears cut 4 'it was cut'
hears child 4 'has crashed on it'
hears values 4 'has crashed on it'
hears crash 4 'Segmentation fault'
hears silent 4 'it ended without a result'
exit $((failures > 0))
