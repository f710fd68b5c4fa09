#!/usr/bin/env bash
# plugin.sh BURSTSCOPE TRACE_FROM_TEXT PLUGIN PLUGIN_HOST -- the importer as a component of babeltrace2 makes the same
# database as burstscope import, refuses what that refuses, and leaves nothing in a program that unloads it.
set -euo pipefail
for tool in babeltrace2 sqlite3; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
burstscope=$1 trace_from_text=$2 plugin=$3 host=$4
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0

wrong()
{
	echo "plugin.sh: $*"
	failures=$((failures + 1))
}

# by_plugin STATUS PARAMS TRACE...: run babeltrace2 with our sink; it must end with STATUS. $said has its standard
# error.
by_plugin()
{
	local wanted=$1 params=$2 status=0
	shift 2

	babeltrace2 --plugin-path="$(dirname "$plugin")" "$@" --component=sink.nnburst.sqlite --params="$params" \
		>"$tmp/printed" 2>"$tmp/said" || status=$?
	said=$(<"$tmp/said")
	((status == wanted)) || wrong "$params $* ends with $status, not $wanted: $said"
}

# says WORDS: the error must have WORDS; babeltrace2 may break lines anywhere.
says() { [[ $(tr -s ' \n' ' ' <<<"$said") == *"$1"* ]] || wrong "not said: $1 (but: $said)"; }

# content DB: print all of it except the places of the traces, which messages lack, and the losses that the plugin adds
# because it cannot see losses.
content()
{
	cp "$1" "$1.copy"
	sqlite3 "$1.copy" "UPDATE trace SET path = ''" "DELETE FROM stored_loss WHERE cause = 7" .dump
}

# blind DB: the sink cannot see losses, so no answer may claim that there was none, and no verdict passes.
blind()
{
	local verdict status

	[[ $(sqlite3 "$1" "SELECT count(*) = (SELECT count(*) FROM trace) FROM loss WHERE cause = 'unchecked'") == 1 ]] ||
		wrong "not every trace is unchecked"
	"$burstscope" summary "$1" >"$tmp/summary"
	! grep -q 'no event was lost' "$tmp/summary" || wrong "the summary says that no event was lost"
	grep -q 'unknown whether all was recorded' "$tmp/summary" || wrong "the summary does not say what is not known"
	for verdict in starvation priority fairness; do
		status=0
		"$burstscope" "$verdict" --verdict "$1" >"$tmp/verdict" || status=$?
		((status == 3)) || wrong "$verdict ends with $status"
	done
}

# events SEED: print events of a service and an app that executes, with a loss, on three cpus; each seed has a stream
# of its own.
events()
{
	awk -v seed="$1" 'BEGIN {
		srand(seed)
		print "100 service_state pid=9 instance=1 policy=fair lanes=1"
		print "110 client_connect conn=1 pid=5 uid=1000 app=5 name=app"
		print "120 model_prepare model=1 conn=1 name=net ops=3"
		print "130 stream_open stream=" seed + 1 " conn=1 path=burst model=1"
		for (at = 1000; ++n <= 300; at += 100 + int(rand() * 100)) {
			cpu = int(rand() * 2)
			e = " exec=" seed + 1 ":" n " cpu="
			print at, "exec_submit model=1 path=burst" e cpu
			print at + 10, "fmq_write queue=request items=5" e cpu
			print at + 20, "fmq_read queue=request items=5" e "2"
			print at + 22, "request_decode model=1" e "2"
			print at + 25, "slot_lookup slot=1 hit=" (n > 1) e "2"
			print at + 30, "sched_enqueue model=1 app=5 priority=medium" e "2"
			print at + 40, "sched_dispatch lane=0" e "2"
			print at + 60, "exec_end lane=0 ops_run=3" e "2"
			print at + 65, "fmq_write queue=result items=3" e "2"
			print at + 70, "fmq_read queue=result items=3" e cpu
			print at + 80, "exec_return" e cpu
			if (n == 150)
				print at + 85, "loss ended=" (at + 95) " events=4 cpu=2"
		}
	}'
}

events 1 | "$trace_from_text" -n 50 "$tmp/one"
events 2 | "$trace_from_text" -n 50 -p 77 "$tmp/traces/two"
cp -r "$tmp/one" "$tmp/traces/one"

for params in '' ',keep-operations=true'; do
	options=()
	[[ ! $params ]] || options=(--keep-operations)
	for trace in one traces; do
		"$burstscope" import ${options[@]+"${options[@]}"} -o "$tmp/import.db" "$tmp/$trace" 2>/dev/null ||
			wrong "import of $trace fails"
		by_plugin 0 "output=\"$tmp/plugin.db\"$params" "$tmp/$trace"
		blind "$tmp/plugin.db"
		executions=$(sqlite3 "$tmp/plugin.db" 'SELECT count(*) FROM execution')
		((executions >= 300)) || wrong "$trace: there are $executions executions"
		if [[ $trace == one ]]; then
			content "$tmp/import.db" >"$tmp/imported"
			content "$tmp/plugin.db" | diff "$tmp/imported" - >"$tmp/differ" || wrong "$trace$params: $(head -5 "$tmp/differ")"
		else # which of them is the first depends on the reader
			[[ $executions == "$(sqlite3 "$tmp/import.db" 'SELECT count(*) FROM execution')" ]] ||
				wrong "$trace: there are $executions executions"
		fi
		rm -f "$tmp"/*.db*
	done
done

# ---- a program that unloads the plugin, and goes on with SQLite ----

"$host" "$plugin" "$tmp/one" "$tmp/hosted.db" "$tmp/own.db" || wrong "plugin_host ends with $?"
blind "$tmp/hosted.db"

# ---- refusals, which leave no file behind ----

mkdir "$tmp/out"
by_plugin 1 'keep-operations=true' "$tmp/one"
says 'parameter output is missing'
by_plugin 1 'output=7' "$tmp/one"
says 'parameter output has to be a file name'
by_plugin 1 "output=\"$tmp/out/db\",keep-operations=7" "$tmp/one"
says 'parameter keep-operations has to be true or false'
by_plugin 1 "output=\"$tmp/out/db\",horizon-ns=0" "$tmp/one"
says 'parameter horizon-ns has to be a number above 0'
by_plugin 1 "output=\"$tmp/out/db\",colour=\"red\"" "$tmp/one"
says 'parameter colour is not known'
by_plugin 1 "output=\"$tmp/nowhere/db\"" "$tmp/one"
says "$tmp/nowhere"
echo '100 exec_return exec=1' | "$trace_from_text" -h other "$tmp/host"
by_plugin 1 "output=\"$tmp/out/db\"" "$tmp/one" "$tmp/host"
says 'traces of several clocks'
events 3 | "$trace_from_text" "$tmp/cut"
truncate -s -1 "$tmp/cut/cpu_2"
by_plugin 1 "output=\"$tmp/out/db\"" "$tmp/cut"
[[ ! $(ls -A "$tmp/out") ]] || wrong "there is $(ls -A "$tmp/out") left"

((failures == 0)) && echo "the plugin makes the same of traces"
