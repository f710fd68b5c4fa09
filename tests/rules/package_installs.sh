#!/usr/bin/env bash
# package_installs.sh FILE.deb -- in CI, as root, the package really installs, runs and leaves without a trace.
. "$(dirname "$0")/rule.sh"

[[ ${CI:-} && $EUID -eq 0 ]] || { echo 'skipped: only CI, as root, installs the package'; exit 77; }
wants dpkg-deb
! dpkg -s burstscope >/dev/null 2>&1 || { echo 'skipped: the package is installed'; exit 77; }
scratch
trap 'dpkg --purge burstscope >/dev/null 2>&1; rm -rf "$tmp"' EXIT
dpkg -i "$1" >"$tmp/log" 2>&1 || broken "dpkg -i: $(<"$tmp/log")"
(cd / && nnburst-fmq --version >"$tmp/log" 2>&1) || broken "installed, and does not run: $(<"$tmp/log")"
dpkg --purge burstscope >"$tmp/log" 2>&1 || broken "dpkg --purge: $(<"$tmp/log")"
while read -r path; do
	[[ ! -e $path ]] || broken "left behind by the package: $path"
done < <(dpkg-deb -c "$1" | awk '$1 !~ /^d/ { sub(/^\./, "", $6); print $6 }')
judged 'the package installs, runs and leaves'
