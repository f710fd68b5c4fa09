#!/usr/bin/env bash
# example.sh PROGRAM NNBURSTD OUTPUT [OPTION...] -- an example does what it should, and says so where there is no service.
set -euo pipefail

program=$1
. "$(dirname "$0")/../daemon.sh"
export NNBURST_SOCKET=$tmp/socket

# It ends there and then, without freeing anything.
if said=$(ASAN_OPTIONS=detect_leaks=0 "$program" 2>&1) || [[ $said != *'no service there: is nnburstd running?' ]]; then
	echo "without a service: $said"
	exit 1
fi
start_daemon "$2" "${@:4}"
said=$("$program")
stop_daemon
[[ $said == "$3" ]] || { echo "it says: $said"; exit 1; }
