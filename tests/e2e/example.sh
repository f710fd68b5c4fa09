#!/usr/bin/env bash
# example.sh PROGRAM NNBURSTD -- docs/examples/burst.c does what the README says, and says so where there is no service.
set -euo pipefail

program=$1
. "$(dirname "$0")/../daemon.sh"
export NNBURST_SOCKET=$tmp/socket

# It ends there and then, without freeing anything.
if said=$(ASAN_OPTIONS=detect_leaks=0 "$program" 2>&1) || [[ $said != *'no service there: is nnburstd running?' ]]; then
	echo "without a service: $said"
	exit 1
fi
start_daemon "$2"
said=$("$program")
stop_daemon
[[ $said == $'0 0 0 0\n0 0.5 1.5 2.5\n0 1.5 3.5 5.5' ]] || { echo "it says: $said"; exit 1; }
