#!/usr/bin/env bash
# demo.sh BURSTSCOPE SERVICE -- burstscope demo on a machine without a session daemon: it prints every answer below its
# command, keeps the recording, and leaves no process behind, even when it is stopped.
set -euo pipefail
. "$(dirname "$0")/../lttng.sh"
burstscope=$1
service=$2
failures=0 demo= others=()
trap 'for pid in $demo "${others[@]}"; do kill -9 "$pid" 2>/dev/null || true; done; rm -rf "$tmp"' EXIT
cd "$tmp"

wrong()
{
	echo "demo.sh: $*"
	failures=$((failures + 1))
}

gone() { ! lttng --no-sessiond list >/dev/null 2>&1; }

# The processes of this test: no other process in this namespace has this scratch directory.
left() { pgrep -f "nnburst(d|-load) .*--socket $1" || true; }

# Another service with an app runs beside the demo, which records the one that it starts alone.
"$service" --socket "$tmp/other" --app-identity pid >other.out 2>&1 &
others=($!)
until [[ -S $tmp/other ]]; do
	kill -0 "${others[0]}" 2>/dev/null || { echo 'nnburstd does not start'; exit 1; }
	sleep 0.05
done
"$(dirname "$service")/nnburst-load" --quiet --socket "$tmp/other" --duration 600s audio >load.out 2>&1 &
others+=($!)
"$burstscope" demo --for 3s -o shown >out 2>said || wrong "it ends with $?: $(<said)"
for command in 'nnburstd ' 'burstscope record --service [^ ]+ -o shown/fifo -- nnburst-load ' 'burstscope import ' 'burstscope summary ' 'burstscope overhead ' 'burstscope misses ' \
	'burstscope explain ' 'burstscope fairness ' 'burstscope record --service [^ ]+ -o shown/fair -- nnburst-load '; do
	grep -qE "[$] $command" out || wrong "not shown: $command"
done
grep -q 'Commands to try next' out || wrong 'what next?'
for name in fifo fair; do
	[[ -d shown/$name && -e shown/$name.db ]] || wrong "not kept: $name"
	"$burstscope" sql -q --format csv shown/$name.db "SELECT count(*) > 0 FROM execution e JOIN app a ON a.id = e.app_id WHERE a.name = 'camera'" |
		grep -qx 1 || wrong "nothing of the camera in $name"
	"$burstscope" sql -q --format csv shown/$name.db "SELECT count(DISTINCT instance) FROM service_rules" | grep -qx 1 || wrong "another service in $name"
done
[[ $(head -1 shown/demo.html) == '<!doctype html>' && $(tail -1 shown/demo.html) == '</html>' ]] || wrong 'not kept: a page'
grep -q 'data-answer="diff">{"schema_version"' shown/demo.html || wrong 'the page has no comparison'
missed() { "$burstscope" sql -q --format csv "shown/$1.db" 'SELECT count(*) FROM execution WHERE miss IS NOT NULL' | tail -1; }
(($(missed fifo) > 0)) || wrong 'first come, first served, and no deadline was missed'
hit=$("$burstscope" sql -q --format csv shown/fifo.db 'SELECT count(*) FROM execution WHERE deadline IS NOT NULL AND miss IS NULL' | tail -1)
((hit > 0)) || wrong 'not one frame was in time'
kill "${others[@]}"
wait "${others[@]}" 2>/dev/null || true
others=()
gone || wrong 'a session daemon is left'

"$burstscope" demo -o shown >out 2>said && wrong 'into a directory that is there'
[[ ! -s out && $(wc -l <said) == 1 ]] || wrong "into a directory that is there: $(<said)"

: >out # the output of the previous run is removed
env --default-signal=INT "$burstscope" demo --for 60s -o stopped >out 2>said &
demo=$!
until grep -qF ' -- nnburst-load' out; do
	kill -0 "$demo" 2>/dev/null || { wrong "it ends early: $(<said)"; break; }
	sleep 0.05
done
kill -INT "$demo"
status=0
wait "$demo" || status=$?
demo=
((status == 130)) || wrong "stopped, it ends with $status: $(<said)"
socket=$(sed -nE 's/.*--socket ([^ ]+).*/\1/p' out | tail -1)
[[ ! $(left "$socket") && ! -e $socket ]] || wrong 'stopped, and something still runs'
gone || wrong 'stopped, and a session daemon is left'

((failures == 0)) || exit 1
echo 'demo.sh: all as it should be'
