#!/usr/bin/env bash
# validate.sh PROGRAM NNBURSTD DRIVERS... -- nnburst-conformance --validate passes our drivers and our service, names
# the checks that it is asked for, and writes JUnit's XML. DRIVERS: paths of driver-*.so without a defect.
set -euo pipefail

program=$1 nnburstd=$2 failures=0
shift 2
. "$(dirname "$0")/../daemon.sh"
cd "$tmp"

wrong()
{
	echo "validate.sh: $*"
	failures=$((failures + 1))
}

# ends STATUS ARGUMENT...: run the program; it must end with STATUS. $said has its output.
ends()
{
	local wanted=$1 status=0
	shift
	said=$("$program" "$@" 2>&1) || status=$?
	((status == wanted)) || wrong "'$*' ends with $status, not $wanted: $said"
}

says() # PATTERN
{
	grep -qE -- "$1" <<<"$said" || wrong "not said: $1 (but: $said)"
}

ends 0 --validate --quiet
# 8 checks are of a service; whether a deadline ends a preparation shows only if no estimate refuses it before.
says '^[0-9]+ checks passed, 0 failed, [89] skipped; [0-9]{5,} rows$'
for driver in "$@"; do
	ends 0 --validate --quiet --only memory --driver "$driver"
	says '^[0-9]+ checks passed, 0 failed, 0 skipped; '
done
# The null driver computes nothing: the checks find that, and no other fault.
ends 1 --validate --quiet --only memory --driver null
says '^FAILED  memory M-22: '
says '^[0-9]+ checks passed, 1 failed, '

start_daemon "$nnburstd"
ends 0 --validate --quiet --socket "$socket" --junit junit.xml
says '^[0-9]+ checks passed, 0 failed, [0-2] skipped; [0-9]{5,} rows$' # both checks of Q-14 may be refused by an estimate
for suite in model request burst deadline memory fence hooks service; do
	grep -q "<testsuite name=\"$suite\" tests=\"[0-9]*\" failures=\"0\"" junit.xml || wrong "junit.xml has no suite $suite"
done
(($(grep -c '<testcase ' junit.xml) == $(sed -nE 's/^([0-9]+) checks passed, 0 failed, ([0-9]+) skipped.*/\1 + \2/p' <<<"$said"))) || wrong "junit.xml has other checks"
ends 0 --validate --only fence --socket "$socket"
says '^passed  fence Q-34: '
! grep -q '^passed  model' <<<"$said" || wrong "--only fence runs others"
ends 0 --validate --only O-11
says '^passed  model O-11: mutateExecutionOrder: [0-9]+ rows$'
! grep -qv '^passed  model O-11\|checks passed' <<<"$said" || wrong "--only O-11 runs others: $said"
stop_daemon

ends 2 --validate --only Z-99
ends 2 --validate models
ends 2 --validate --driver null --socket "$socket"
ends 2 --validate --preempt both
ends 2 --junit junit.xml models
ends 5 --validate --socket "$tmp/none"
ends 5 --validate --driver "$tmp/driver-none.so"
ends 5 --validate --only O-11 --junit "$tmp/no/such/place"
! grep -q '^passed' <<<"$said" || wrong "the suites run before it is known that their report has no place"
ends 5 --validate --only O-11 --junit /dev/full
says '/dev/full: No space left on device$'

((failures == 0))
