#!/usr/bin/env bash
# example.sh PROGRAM NNBURSTD OUTPUT [OPTION...] -- an example prints OUTPUT with a service, and an error without one.
set -euo pipefail

program=$1
. "$(dirname "$0")/../daemon.sh"
export NNBURST_SOCKET=$tmp/socket

# The example ends at once, and frees nothing.
if said=$(ASAN_OPTIONS=detect_leaks=0 "$program" 2>&1) || [[ $said != *'no service there: is nnburstd running?' ]]; then
	echo "without a service: $said"
	exit 1
fi
start_daemon "$2" "${@:4}"
said=$("$program")
stop_daemon
[[ $said == "$3" ]] || { echo "it says: $said"; exit 1; }
