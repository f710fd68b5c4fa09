#!/usr/bin/env bash
# kinds.sh BURSTSCOPE TRACE_FROM_TEXT -- overhead and explain of recordings that lack one kind of events each, beside the
# whole recording. No cause has more of the overhead than in the whole one. The lateness of a missed deadline is the same,
# or told as a lower bound; its primary cause is the same, or unknown.
# NOT HELD: where no execution is complete, causes are measured against the service's estimate (typical_estimated), and
# three of these primary causes are wrong.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
golden=$(cd "$(dirname "$0")/../golden" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
export XDG_CACHE_HOME=$tmp/cache
kinds='exec_submit fmq_write fmq_read request_decode fence_wait sched_enqueue sched_dispatch sched_preempt sched_resume exec_end exec_return fence_signal
	slot_lookup deadline_miss sched_ready'
for world in camera unfair; do
	"$2" -e full "$world" <"$golden/$world.trace"
	"$1" import -q "$world"
	for kind in $kinds; do
		"$2" -e full -w "$kind" "$world.$kind" <"$golden/$world.trace"
		"$1" import -q "$world.$kind"
	done
done
python3 - "$1" $kinds <<'END'
import csv, io, json, subprocess, sys
program, kinds, compared, wrong = sys.argv[1], sys.argv[2:], 0, 0

def answer(*arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, check=True).stdout.decode()

def table(*arguments):
    return list(csv.DictReader(io.StringIO(answer(*arguments))))

def executions(database):
    """The ids of missed deadlines, by stream and seq."""
    rows = table('sql', '-q', '--format', 'csv', database,
        'SELECT e.id, s.number, e.seq FROM execution e JOIN stream s ON s.id = e.stream_id WHERE e.miss IS NOT NULL ORDER BY s.number, e.seq')
    return {(row['number'], row['seq']): row['id'] for row in rows}

def causes(database):
    return {row['cause']: (int(row['n']), int(row['sum_ns'])) for row in table('overhead', '--part', 'causes', '--format', 'csv', database)}

def explained(database, execution):
    return json.loads(answer('explain', '--format', 'json', execution, database))['rows'][0]

def complain(*words):
    global wrong
    wrong += 1
    print('kinds.sh:', *words)

for world in ('camera', 'unfair'):
    whole = executions(world + '.db')
    truth = {key: explained(world + '.db', execution) for key, execution in whole.items()}
    most = causes(world + '.db')
    for kind in kinds:
        database = f'{world}.{kind}.db'
        for cause, (n, sum_ns) in causes(database).items():
            known = most.get(cause, (0, 0))
            compared += 1
            if cause != 'unknown' and (n > known[0] or sum_ns > known[1]):
                complain(world, 'without', kind, 'overhead:', cause, n, sum_ns, 'and not', known)
        for key, execution in executions(database).items():
            if key not in truth:
                complain(world, 'without', kind, key, 'is missed')
                continue
            row, true = explained(database, execution), truth[key]
            compared += 1
            if row['lateness_ns'] is not None and row['lateness_ns'] > true['lateness_ns']:
                complain(world, 'without', kind, key, 'lateness', row['lateness_ns'], 'and not', true['lateness_ns'])
            if row['lateness_ns'] is not None and row['lateness_ns'] < true['lateness_ns'] and ' by at least ' not in answer('explain', execution, database):
                complain(world, 'without', kind, key, 'is late by', row['lateness_ns'], 'and not by at least that')
            if not row['typical_estimated'] and row['primary_cause'] not in (None, 'unknown', true['primary_cause']):
                complain(world, 'without', kind, key, 'is due to', row['primary_cause'], 'and not', true['primary_cause'])
print('counted:', compared, 'figures and missed deadlines compared')
sys.exit(wrong > 0 or compared < 400)
END
