#!/usr/bin/env bash
# tracepoints.sh EVERY_EVENT PROVIDER -- LTTng records every event as the catalogue has it, by level; and the program
# notices each new session.
set -euo pipefail
. "$(dirname "$0")/../lttng.sh"
program=$1 provider=$2

# expect NAME LEVELS: trace NAME must have exactly the events of those levels that the program printed.
expect()
{
	diff <(grep -E "^($2) " "$tmp/emitted" | cut -d' ' -f2-) <(shown "$1") >"$tmp/diff" && return
	echo "$1: what was emitted (<), and what is in the trace (>):"
	head -20 "$tmp/diff"
	exit 1
}

start_sessiond

# A provider that does not exist has no listener.
"$program" "$provider" >"$tmp/emitted"
(($(wc -l <"$tmp/emitted") > 60)) || { echo "there should be more events"; exit 1; }

session full DEBUG_FUNCTION
session verbose DEBUG_LINE
session compact NOTICE exec_client exec_service
"$program" "$provider" >"$tmp/emitted"
for name in full verbose compact; do end_session "$name"; done
expect full 'RARE|FULL'
expect verbose 'RARE|FULL|VERBOSE'
expect compact 'RARE|COMPACT'

# Sessions begin and end while a program emits nothing: a session may reuse the memory of the one before.
coproc ASKED { exec "$program" "$provider" ask; }
asked=$ASKED_PID # bash unsets ASKED_PID when the program has ended
answer=
ask()
{
	echo >&"${ASKED[1]}"
	read -r answer <&"${ASKED[0]}"
	[[ $answer == "$1" ]] || { echo "$2: $answer"; exit 1; }
}
ask none 'nobody listens yet'
for i in 1 2; do
	session "late$i" DEBUG_FUNCTION
	ask news "session $i begins to listen"
	ask none "session $i has listened before"
	end_session "late$i"
	ask none "session $i is gone"
	session "later$i" DEBUG_FUNCTION
	end_session "later$i"
	session "again$i" DEBUG_FUNCTION
	ask news "another session, after one that nothing was said in"
	session "beside$i" NOTICE
	ask news "one more beside it"
	end_session "again$i"
	end_session "beside$i"
done
exec {ASKED[1]}>&-
await_end "$asked" 'the app that is asked ends'
echo "$(wc -l <"$tmp/emitted") events, three levels, late sessions"
