# lttng.sh -- sourced: a session daemon of our own, that nobody else's programs find, and a scratch directory $tmp. Both are
# gone when the script is. As root the daemon's places are in a mount namespace of the script's own; as a user they are
# below a home of its own.
for tool in lttng lttng-sessiond babeltrace2; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done

if ((EUID == 0)) && [[ ! ${OWN_NAMESPACE-} ]]; then
	unshare --mount true 2>/dev/null || { echo 'skipped: no mount namespace to be had'; exit 77; }
	OWN_NAMESPACE=1 exec unshare --mount "$0" "$@"
fi

# A script that ends because a command failed says which one.
trap 'echo "${0##*/}: $LINENO: status $?: $BASH_COMMAND" >&2' ERR

# stop_jobs: what the script began in the background, but for the daemons, which are asked to end.
stop_jobs()
{
	local pid
	for pid in $(jobs -p); do
		[[ $pid == "${sessiond-}" || $pid == "${daemon-}" ]] || kill -9 "$pid" 2>/dev/null || true
	done
}

tmp=$(mktemp -d)
sessiond=
trap 'stop_jobs; stop_sessiond; rm -rf "$tmp"' EXIT
export LTTNG_HOME=$tmp LTTNG_UST_REGISTER_TIMEOUT=-1
if ((EUID == 0)); then
	mkdir -p /var/run/lttng
	mount -t tmpfs own /var/run/lttng && mount -t tmpfs own /dev/shm || { echo "skipped: nothing may be mounted"; exit 77; }
fi

# consumers: the pids of the consumer daemons here, which write for the session daemon. pgrep would read the command line of every process of the
# machine, and hang as long as one of them hangs with the lock of its memory held.
consumers()
{
	local pid
	for pid in $(grep -lxs lttng-consumerd /proc/[0-9]*/comm | cut -d / -f 3); do
		if ((EUID == 0)); then
			[[ $(readlink "/proc/$pid/ns/mnt") != "$(readlink /proc/self/ns/mnt)" ]] || echo "$pid"
		else
			! grep -qsF "$LTTNG_HOME" "/proc/$pid/cmdline" || echo "$pid"
		fi
	done
}

start_sessiond()
{
	local tries=0

	# The consumer daemons of one that was killed remove their sockets by name when they end, and these of the next have the same names.
	while [[ $(consumers) ]] && ((++tries < 200)); do sleep 0.05; done
	tries=0
	lttng-sessiond --no-kernel >"$tmp/sessiond.log" 2>&1 &
	sessiond=$!
	until timeout 10 lttng --no-sessiond list >/dev/null 2>&1; do
		if ! kill -0 "$sessiond" 2>/dev/null || ((++tries > 600)); then
			cat "$tmp/sessiond.log" >&2
			echo "lttng-sessiond does not start" >&2
			exit 1
		fi
		sleep 0.05
	done
}

# await_end PID WHAT: wait for a process that was started here, for a minute at most; the status is that of the process. That it took longer goes to the
# standard output: many callers drop what the shell says of a process that was killed.
await_end()
{
	local tries=0

	while kill -0 "$1" 2>/dev/null; do
		if ((++tries > 3000)); then
			echo "$(basename "$0"): not within a minute: $2"
			failures=$((${failures-0} + 1)) # also where the caller expects a process that was killed, and looks at no status
			kill -9 "$1" 2>/dev/null || true
			break
		fi
		sleep 0.02
	done
	wait "$1"
}

stop_sessiond()
{
	local pid=$sessiond

	[[ $pid ]] || return 0
	sessiond=
	kill "$pid"
	await_end "$pid" 'lttng-sessiond ends' || true
}

# quietly COMMAND...: what it says is shown only if it fails.
quietly()
{
	"$@" >"$tmp/said" 2>&1 || { cat "$tmp/said" >&2; exit 1; }
}

# session NAME LEVEL [EVENT...]: record the events up to LEVEL, and those by name, into $tmp/NAME.
session()
{
	local name=$1 level=$2 event
	shift 2

	quietly lttng --no-sessiond create "$name" --output="$tmp/$name"
	quietly lttng --no-sessiond enable-event --session "$name" --userspace 'nnburst:*' --loglevel="$level"
	for event; do
		quietly lttng --no-sessiond enable-event --session "$name" --userspace "nnburst:$event"
	done
	quietly lttng --no-sessiond start "$name"
}

# end_session NAME: once it is stopped all of it is in its files; what destroying waits for, half a second, is of no use to a test.
# A session that was rotated is another matter: destroying it moves its last chunk to the archived ones.
end_session()
{
	local wait=--no-wait

	[[ -d $tmp/$1/archives ]] && wait=
	quietly lttng --no-sessiond stop "$1"
	quietly lttng --no-sessiond destroy $wait "$1"
}

# shown NAME: the events of a trace, without where and when.
shown()
{
	babeltrace2 "$tmp/$1" | sed -E 's/^.* (nnburst:[a-z_]+: )\{ cpu_id = [0-9]+ \}, /\1/'
}
