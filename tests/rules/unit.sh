#!/usr/bin/env bash
# unit.sh UNIT -- systemd's unit gives the service no more than it needs: an exposure of 2.0 at most, as systemd-analyze has it,
# without the one protection that would make all clients one user.
set -eu
command -v systemd-analyze >/dev/null || { echo 'unit.sh: skipped: no systemd-analyze'; exit 77; }
systemd-analyze security --help | grep -q -- --offline || { echo 'unit.sh: skipped: systemd-analyze has no --offline'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
sed 's|@NNB_SBINDIR@|/usr/sbin|' "$1" >"$tmp/nnburstd.service"
if ! systemd-analyze security --offline=yes --no-pager --threshold=20 "$tmp/nnburstd.service" >"$tmp/says"; then
	grep -e '✗' -e 'exposure' "$tmp/says"
	echo "unit.sh: $1 has more than an exposure of 2.0"
	exit 1
fi
grep exposure "$tmp/says"
! grep -q '^PrivateUsers=' "$1" || { echo "unit.sh: $1 has PrivateUsers=: in there every client is the user nobody"; exit 1; }
