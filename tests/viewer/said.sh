#!/usr/bin/env bash
# said.sh BURSTSCOPE TRACE_FROM_TEXT -- the sentences of summary and misses about what no golden trace has: several waits of one execution that starved, and
# missed deadlines of which only some have a known culprit.
set -euo pipefail
golden=$(cd "$(dirname "$0")/../golden" && pwd)
burstscope=$1 trace_from_text=$2
command -v sqlite3 >/dev/null || { echo 'said.sh: skipped: there is no sqlite3'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"
failures=0

# holds TEXT COMMAND...: it is in what the command prints.
holds()
{
	local text=$1
	shift
	"$@" >out
	grep -qF -- "$text" out || {
		echo "said.sh: $*: not '$text', but: $(<out)"
		failures=$((failures + 1))
	}
}

for name in camera unfair; do
	"$trace_from_text" -e full -s "$name" "$name" <"$golden/$name.trace"
	"$burstscope" import -q -o "$name.db" "$name"
done
holds "meek's usual waited for a lane up to 200.0 ms, too long in 1 wait; hog held" "$burstscope" summary --format json unfair.db
sqlite3 unfair.db 'INSERT INTO stored_starvation SELECT execution_id, app_id, model_id, began + 200000000, 150000000, bypassed, top_culprit_app_id, 150000000, open FROM stored_starvation'
holds "meek's usual waited for a lane up to 200.0 ms at a time, too long in 2 waits of 1 execution, 350.0 ms in all; hog held" "$burstscope" summary --format json unfair.db
holds 'for too long, up to 200.0 ms at a time;' "$burstscope" starvation --format json unfair.db

holds 'waiting while 写真帳' "$burstscope" summary --format json camera.db
sqlite3 camera.db "INSERT INTO app VALUES(3, 1, 3, 1003, 'third', NULL); UPDATE stored_primary_miss SET culprit_app_id = NULL, culprit_model_id = NULL WHERE cause = 4"
holds 'waiting while other apps (写真帳 in 3 of 7, unknown ones in 4) held the lane' "$burstscope" summary --format json camera.db
holds 'whose doing: 写真帳 and unknown apps 7' "$burstscope" summary --format json camera.db
((failures == 0))
