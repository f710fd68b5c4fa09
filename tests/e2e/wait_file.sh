#!/usr/bin/env bash
# wait_file.sh LOAD SERVICE -- a service of all users maps LTTng's wait files only if no other user can shorten them, and makes them so itself if there
# are none. With a file that another user could shorten, it serves without events, and says so. A client that
# finds a FIFO or an empty file there goes on without events.
set -euo pipefail
service=$2
((EUID == 0)) || { echo 'skipped: only root can be several users'; exit 77; }
if [[ ! ${OWN_NAMESPACE-} ]]; then
	unshare --mount true 2>/dev/null || { echo 'skipped: no mount namespace to be had'; exit 77; }
	OWN_NAMESPACE=1 exec unshare --mount "$0" "$@"
fi
wait_file=/dev/shm/lttng-ust-wait-8
as_service=(setpriv --reuid 65534 --regid 65534 --clear-groups)
other=(setpriv --reuid 65533 --regid 65533 --clear-groups)
tmp=$(mktemp -d)
chmod 711 "$tmp"
daemon=
trap '[[ ! $daemon ]] || kill -9 "$daemon"; rm -rf "$tmp"' EXIT
mount -t tmpfs own /dev/shm || { echo 'skipped: nothing may be mounted'; exit 77; }

# served: what a service prints from its start to its stop, which is $said; and whether it mapped the file: $mapped.
served()
{
	local tries=0

	mkdir -p "$tmp/run"
	chown 65534 "$tmp/run"
	HOME=$tmp/run LTTNG_UST_REGISTER_TIMEOUT=0 "${as_service[@]}" "$service" --app-identity uid --driver null --socket "$tmp/run/socket" 2>"$tmp/output" &
	daemon=$!
	until [[ -S $tmp/run/socket ]]; do
		kill -0 "$daemon" 2>/dev/null && ((++tries < 1000)) || { echo "no service: $(<"$tmp/output")"; exit 1; }
		sleep 0.02
	done
	status_of_client || { echo "no status ($?) with $(stat -c '%n, %F;' "$wait_file"*)"; failed=1; }
	mapped=$(grep -c "$wait_file\$" "/proc/$daemon/maps") || true
	"${other[@]}" truncate -s 0 "$wait_file" 2>/dev/null && shortened=yes || shortened=no
	kill "$daemon"
	wait "$daemon"
	daemon=
	said=$(<"$tmp/output")
}

# status_of_client: a client of another user's asks while the service runs, and gets an answer.
status_of_client()
{
	HOME=$tmp/run LTTNG_UST_REGISTER_TIMEOUT=0 timeout 10 "${other[@]}" "$service" --status --socket "$tmp/run/socket" >/dev/null
}

failed=0
# expect WHAT MAPPED SHORTENED SAID
expect()
{
	[[ $((mapped > 0)) == "$2" && $shortened == "$3" && $said == $4 ]] && return
	echo "$1: mapped $mapped times, shortened by another user: $shortened, said: '$said'"
	failed=1
}

served
expect 'no file' 1 no ''
served
expect 'its own of before' 1 no ''
rm "$wait_file"
"${other[@]}" truncate -s 4096 "$wait_file"
served
expect "another user's" 0 yes "*nothing is traced*$wait_file*"
rm "$wait_file"
"${as_service[@]}" sh -c "umask 0; truncate -s 4096 $wait_file"
chmod 666 "$wait_file"
served
expect 'its own, as LTTng makes it' 0 yes "*nothing is traced*$wait_file*"
rm "$wait_file"
(umask 002; truncate -s 4096 "$wait_file")
served
expect "root's" 1 no ''
rm "$wait_file"
(umask 022; touch "$wait_file")
served
expect "root's, and empty" 0 no "*nothing is traced*$wait_file*"
rm "$wait_file"
"${other[@]}" ln -s "$tmp/output" "$wait_file"
served
expect 'a link' 0 no "*nothing is traced*$wait_file*"
rm "$wait_file"
"${other[@]}" mkfifo "$wait_file"
served
expect 'a FIFO' 0 no "*nothing is traced*$wait_file*"
rm "$wait_file"
(umask 022; truncate -s 4096 "$wait_file")
rm -f "$wait_file-65533"
mkfifo "$wait_file-65533"
served
expect "a FIFO for the client's user" 1 no ''
rm "$wait_file" "$wait_file-65533"
for other_file in mkfifo touch; do
	rm -f "$wait_file-65534"
	"${other[@]}" $other_file "$wait_file-65534"
	chmod 666 "$wait_file-65534"
	served
	expect "another user's, by $other_file, for this user" 0 no "*nothing is traced*$wait_file*"
	rm "$wait_file-65534"
done
exit $failed
