# relay.sh -- sourced first: a network namespace of the script's own, and in it another one for a relay daemon of LTTng, at $relay_at.
# Both are gone when the script is.
for tool in ip unshare lttng-relayd; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
if [[ ! ${OWN_NAMESPACE-} ]]; then
	unshare --mount --net true 2>/dev/null || { echo 'skipped: no network namespace to be had'; exit 77; }
	OWN_NAMESPACE=1 exec unshare --mount --net "$0" "$@"
fi
. "$(dirname "${BASH_SOURCE[0]}")/recording.sh"
relay_at=192.0.2.2 relayd=
trap 'stop_jobs; stop_relay || true; stop_service || true; stop_sessiond; ip netns del relay 2>/dev/null || true; rm -rf "$tmp"' EXIT

# the names of namespaces are files there
mkdir -p /run/netns && mount -t tmpfs own /run/netns || { echo 'skipped: nothing may be mounted'; exit 77; }
{
	ip link set lo up && ip netns add relay && ip link add near type veth peer name far netns relay &&
		ip addr add 192.0.2.1/24 dev near && ip link set near up && ip -n relay addr add $relay_at/24 dev far &&
		ip -n relay link set far up && ip -n relay link set lo up
} 2>"$tmp/said" || { echo "skipped: no other network namespace to be had: $(<"$tmp/said")"; exit 77; }

# start_relay: what it is sent is in $tmp/relayed.
start_relay()
{
	local tries=0

	mkdir -p "$tmp/relay-home" "$tmp/relayed"
	LTTNG_HOME=$tmp/relay-home ip netns exec relay lttng-relayd -C tcp://$relay_at:5342 -D tcp://$relay_at:5343 \
		-L tcp://$relay_at:5344 -o "$tmp/relayed" >"$tmp/relayd.log" 2>&1 &
	relayd=$!
	until (exec 3<>/dev/tcp/$relay_at/5344) 2>/dev/null; do
		kill -0 "$relayd" 2>/dev/null && ((++tries < 300)) || { cat "$tmp/relayd.log" >&2; echo 'lttng-relayd does not start' >&2; exit 1; }
		sleep 0.05
	done
}

# stop_relay [SIGNAL]
stop_relay()
{
	local pid=$relayd

	[[ $pid ]] || return 0
	relayd=
	kill "${1--TERM}" "$pid"
	await_end "$pid" 'lttng-relayd ends' 2>/dev/null || true
}

# live_session NAME LEVEL [EVENT...]: one whose events the relay gets each $live_timer us; it is started by lttng start.
live_timer=50000
live_session()
{
	local name=$1 level=$2 event
	shift 2

	quietly lttng --no-sessiond create "$name" --live=$live_timer --set-url=net://$relay_at
	quietly lttng --no-sessiond enable-channel --userspace --session="$name" --buffers-uid --discard --subbuf-size=131072 \
		--num-subbuf=16 bursts
	quietly lttng --no-sessiond enable-event --userspace --session="$name" --channel=bursts 'nnburst:*' --loglevel="$level"
	for event; do
		quietly lttng --no-sessiond enable-event --userspace --session="$name" --channel=bursts "nnburst:$event"
	done
}
