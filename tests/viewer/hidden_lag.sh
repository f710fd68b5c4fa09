#!/usr/bin/env bash
# hidden_lag.sh BURSTSCOPE TRACE_FROM_TEXT -- within --from and --to fairness passes only if no hidden wait there can
# have broken it: such a wait adds to the lag that its app had before.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
burstscope=$1 trace_from_text=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"

"$trace_from_text" -e full -o 1700000000000000000 lossy <"$here/../golden/lossy.trace"
"$burstscope" import -q -o lossy.db lossy
# An app was behind before its execution waited unseen, as in seeds 1013 and 1207 of test_fold_schedules.
sqlite3 lossy.db 'CREATE TEMP TABLE told AS SELECT * FROM app_lag; DELETE FROM stored_lag; DELETE FROM stored_lag_run;
	INSERT INTO stored_lag SELECT * FROM told; UPDATE stored_lag SET most_ns = 55000 WHERE most_ns > 55000'
[[ $(sqlite3 lossy.db "SELECT max(most_lag_ns) FROM app_share") == 310000 ]]

# judged BOUND FROM TO: print the exit status.
judged()
{
	local code=0
	"$burstscope" fairness --verdict --bound "$1" --from "$2" --to "$3" lossy.db >said 2>&1 || code=$?
	echo "$code"
}
failures=0
expect()
{
	[[ $1 == "$2" ]] && return
	echo "hidden_lag.sh: $3: $1, not $2"
	grep verdict said || true
	failures=$((failures + 1))
}
expect "$(judged 200us 2s 2500ms)" 3 'an app may have been 310 us behind, bound 200 us'
expect "$(judged 400us 2s 2500ms)" 0 'no app can have been 310 us behind, bound 400 us'
expect "$(judged 200us 3s 3500ms)" 0 'nothing is hidden there'
exit "$failures"
