# recording.sh -- sourced: lttng.sh, and a service to be recorded.
. "$(dirname "${BASH_SOURCE[0]}")/lttng.sh"
daemon= load_pid= failures=0
trap 'stop_jobs; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT

wrong()
{
	echo "$(basename "$0"): $*"
	failures=$((failures + 1))
}

# awaits CONDITION WHAT: within a minute, or WHAT is wrong.
awaits()
{
	local tries=0
	until eval "$1"; do
		((++tries < 1200)) || { wrong "${BASH_LINENO[0]}: not within a minute: $2"; return; }
		sleep 0.05
	done
}

# start_service PROGRAM [OPTION...]: have nnburstd serve $tmp/socket.
start_service()
{
	local program=$1
	shift

	rm -f "$tmp/socket" # of one that was killed
	"$program" --socket "$tmp/socket" --app-identity pid "$@" &
	daemon=$!
	until [[ -S $tmp/socket ]]; do
		kill -0 "$daemon" 2>/dev/null || { echo 'nnburstd does not start'; exit 1; }
		sleep 0.05
	done
}

# stop_service: and it ends well. A script that fails while the service is stopped has it go on, so that it can end.
stop_service()
{
	local pid=$daemon

	[[ $pid ]] || return 0
	daemon=
	kill "$pid"
	kill -CONT "$pid" 2>/dev/null || true # it may have ended already
	await_end "$pid" 'nnburstd ends'
}

# goes_on PROGRAM: the service has been asked by bursts 20 times more.
goes_on()
{
	local before

	requests() { "$1" --status --socket "$tmp/socket" | sed -nE 's/^so far: ([0-9]+) burst requests.*/\1/p'; }
	before=$(requests "$1")
	awaits "((\$(requests '$1') >= ${before:-0} + 20))" 'the service is asked 20 times more'
}

# scenario NAME TEXT: a file of that name.
scenario() { printf '%s\n' "$2" >"$tmp/$1.json"; }

# begin_load NAME [SOCKET]: have $load, the program of the script, play that scenario in the background; $load_pid is its process.
begin_load()
{
	"$load" --quiet --socket "${2-$tmp/socket}" "$tmp/$1.json" >/dev/null 2>&1 &
	load_pid=$!
}

end_load()
{
	kill "$load_pid"
	await_end "$load_pid" 'the load ends' 2>/dev/null || true # by that signal, or because calls failed
	load_pid=
}

# start_another PROGRAM [OPTION...]: a service whose number no other one in this recording had; it is one of 4095, by chance.
declare -A numbers=()
start_another()
{
	local number

	while
		start_service "$@"
		number=$("$1" --status --socket "$tmp/socket" | sed -nE 's/^process [0-9]+, instance ([0-9]+),.*/\1/p')
		[[ ${numbers[$number]-} ]]
	do stop_service; done
	numbers[$number]=taken
}
