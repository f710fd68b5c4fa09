#!/usr/bin/env bash
# wrong.sh PROGRAM NNBURSTD WRONG XNNPACK [SUITE RULE LIBRARY]... -- nnburst-conformance --validate finds each planted
# defect by the check of its rule: those of driver WRONG (driver_wrong.c), and those of a service with LIBRARY
# (wrong.cmake) in place of libnnburst. Without a defect it finds none.
set -euo pipefail

program=$1 nnburstd=$2 wrong=$3 xnnpack=$4 failures=0
shift 4
. "$(dirname "$0")/../daemon.sh"

# finds SUITE RULE OPTION...: a check of the rule must fail, in that suite.
finds()
{
	local suite=$1 rule=$2 said status=0
	shift 2
	said=$("$program" --validate --quiet --only "$rule" "$@" 2>&1) || status=$?
	if ((status != 1)) || ! grep -q "^FAILED  $suite $rule: " <<<"$said"; then
		echo "wrong.sh: ${planted:-?}: $suite $rule does not find it (status $status): $said"
		failures=$((failures + 1))
	fi
}

while read -r planted suite rule how; do
	export NNB_WRONG=$planted
	if [[ $how == service ]]; then
		start_daemon "$nnburstd" --driver "$wrong"
		finds "$suite" "$rule" --socket "$socket"
		stop_daemon
	else
		finds "$suite" "$rule" --driver "$wrong"
	fi
done <<'END'
supports-nothing model O-17 here
supports-all model O-17 here
prepares-long deadline Q-14 here
runs-long deadline Q-14 service
computes-nothing memory M-22 here
writes-short memory M-30 here
rare-is-short hooks M-3 here
low-is-nothing hooks Q-3 here
wears-out hooks B-2 here
one-context hooks B-3 here
wears-out hooks B-2 service
one-context hooks B-3 service
END
unset NNB_WRONG
"$program" --validate --quiet --only memory --driver "$wrong" >/dev/null || failures=$((failures + 1))

while (($#)); do
	planted=$3
	LD_PRELOAD=$3 start_daemon "$nnburstd" --driver "$xnnpack"
	finds "$1" "$2" --socket "$socket"
	stop_daemon
	shift 3
done

((failures == 0))
