#!/usr/bin/env bash
# unit.sh UNIT... -- systemd's units give each program no more than it needs: an exposure of 2.0 at most, as systemd-analyze has it,
# without the one protection that would make all clients one user.
set -eu
command -v systemd-analyze >/dev/null || { echo 'unit.sh: skipped: no systemd-analyze'; exit 77; }
systemd-analyze security --help | grep -q -- --offline || { echo 'unit.sh: skipped: systemd-analyze has no --offline'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for unit; do
	plain=$tmp/$(basename "$unit" .in)
	sed 's|@NNB_SBINDIR@|/usr/sbin|; s|@BSV_BINDIR@|/usr/bin|' "$unit" >"$plain"
	if ! systemd-analyze security --offline=yes --no-pager --threshold=20 "$plain" >"$tmp/says"; then
		grep -e '✗' -e 'exposure' "$tmp/says"
		echo "unit.sh: $unit has more than an exposure of 2.0"
		exit 1
	fi
	grep exposure "$tmp/says"
	! grep -q '^PrivateUsers=' "$unit" || { echo "unit.sh: $unit has PrivateUsers=: in there every client is the user nobody"; exit 1; }
done
