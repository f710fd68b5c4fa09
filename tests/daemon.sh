# daemon.sh -- sourced: a scratch directory $tmp, and nnburstd in it. Both are gone when the script is.
tmp=$(mktemp -d)
daemon=
trap 'stop_daemon; rm -r "$tmp"' EXIT

# start_daemon PROGRAM [OPTION...]: have nnburstd serve $socket.
start_daemon()
{
	local program=$1 tries=0
	shift

	socket=$tmp/socket
	"$program" --socket "$socket" --app-identity pid "$@" &
	daemon=$!
	until [[ -S $socket ]]; do
		if ! kill -0 "$daemon" 2>/dev/null || ((++tries > 1000)); then
			echo "nnburstd does not start" >&2
			exit 1
		fi
		sleep 0.05
	done
}

# stop_daemon: and it ends well.
stop_daemon()
{
	local pid=$daemon

	[[ $pid ]] || return 0
	daemon=
	kill "$pid"
	wait "$pid"
}
