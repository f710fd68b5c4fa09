# shellcheck shell=bash
# driver.sh -- the functions that the scripts which plant defects share; sourced. A script defines two functions:
#   builds    builds the tests with the defect that is planted now
#   fails     runs the tests; true if one of them fails, and then $by names it
. "$(dirname "${BASH_SOURCE[0]}")/../rules/rule.sh"

caught=0
survivors=()

# try DEFECT: gives $verdict: caught, survives or unbuilt.
try()
{
	by=
	if ! builds 2>"$tmp/errors"; then
		verdict=unbuilt
	elif fails; then
		verdict=caught
		caught=$((caught + 1))
	else
		verdict=survives
		survivors+=("$1")
	fi
	printf '%-8s  %s%s\n' "$verdict" "$1" "${by:+  by $by}"
}

# must_catch DEFECT: some test must fail.
must_catch()
{
	try "$1"
	case $verdict in
	unbuilt) broken "does not build: $1: $(head -1 "$tmp/errors")" ;;
	survives) broken "no test fails: $1" ;;
	esac
}

# limited SECONDS COMMAND...: runs a program, and bounds its cpu time, its memory and its output, because a defect can make it
# loop for ever. The cpu time does not depend on other work of the machine; a program that sleeps ends after ten minutes.
# $file_kib, if it is set, is the limit of each file instead, memfds included.
limited()
{
	(
		ulimit -t "$1" -v 4000000 -f "${file_kib-100000}"
		timeout 600 "${@:2}"
		exit $? # of this shell, so that nothing is printed about a signal
	) >"$tmp/said" 2>&1
}
