#!/usr/bin/env bash
# apart.sh BURSTSCOPE TRACE_FROM_TEXT -- what was lost of one service leaves no miss of another one undecided: two services at the same time, in one
# import, have the replays that each has alone.
set -euo pipefail
golden=$(cd "$(dirname "$0")/../golden" && pwd)
burstscope=$(realpath "$1") trace_from_text=$(realpath "$2")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8
cd "$tmp"

# replays DB CONDITION: how many misses have which outcome.
replays()
{
	"$burstscope" sql --format csv "$1" "SELECT r.outcome, count(*) AS n FROM miss_replay r JOIN execution x ON x.id = r.execution_id WHERE $2 GROUP BY 1 ORDER BY 1"
}

# The second service is on another machine, has another instance, and loses events while the first one's deadlines are missed.
sed -E 's/conn=([12])/conn=0x10000\1/; s/stream=([14])/stream=0x10000\1/; s/ ([14]):/ 0x10000\1:/; s/pid=100 .*/& instance=1/; s/uid=1/uid=2/
	s/\<2s/100ms/g; s/\<3s/200ms/g' "$golden/lossy.trace" >other.trace
"$trace_from_text" -e full one <"$golden/camera.trace"
"$trace_from_text" -c 00000000-0000-0000-0000-000000000002 -u 00000000-0000-0000-0000-00000000000b -h elsewhere -e full other <other.trace
"$burstscope" import -q -o one.db one
"$burstscope" import -q -o both.db one other
alone=$(replays one.db 1)
together=$(replays both.db "x.trace_id = (SELECT min(id) FROM trace)")
lost=$("$burstscope" sql --format csv both.db "SELECT count(*) AS n FROM possible_wait" | tail -n 1)
grep -q '^replayed,' <<<"$alone" || { echo "apart.sh: nothing is replayed: $alone"; exit 1; }
((lost)) || { echo "apart.sh: no execution of the other service may have waited unseen"; exit 1; }
[[ $alone == "$together" ]] || { printf 'apart.sh: alone:\n%s\nwith another service:\n%s\n' "$alone" "$together"; exit 1; }
