#!/usr/bin/env bash
# unit.sh UNIT... -- systemd's units give each program no more than it needs: an exposure of 2.0 at most, as systemd-analyze has it,
# without the one protection that would make all clients one user; and systemd knows every setting in them.
set -eu
command -v systemd-analyze >/dev/null || { echo 'unit.sh: skipped: no systemd-analyze'; exit 77; }
systemd-analyze security --help | grep -q -- --offline || { echo 'unit.sh: skipped: systemd-analyze has no --offline'; exit 77; }
systemd-analyze --help | grep -q -- --recursive-errors || { echo 'unit.sh: skipped: systemd-analyze has no --recursive-errors'; exit 77; }
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
	# a program that is there in place of ours, which is not installed
	sed 's|@NNB_SBINDIR@/nnburstd|/bin/true|; s|@BSV_BINDIR@/burstscope|/bin/true|' "$unit" >"$plain"
	if ! timeout 60 systemd-analyze verify --man=no --recursive-errors=no "$plain" >"$tmp/says" 2>&1; then
		cat "$tmp/says"
		echo "unit.sh: systemd objects to $unit"
		exit 1
	fi
	! grep -q '^PrivateUsers=' "$unit" || { echo "unit.sh: $unit has PrivateUsers=: in there every client is the user nobody"; exit 1; }
done
