#!/usr/bin/env bash
# sessions.sh BUILD PAGE... -- run again what the pages show, and put in what comes of it: of each block after <!-- session -->, the lines
# with a prompt, one after the other, in an empty directory, which is one for all blocks of a page. As root in a mount namespace of
# its own; no session daemon is there but those that burstscope starts.
set -euo pipefail
. "$(dirname "$0")/../tests/lttng.sh"
build=$(realpath "$1")
shift
PATH=$build/viewer-cli:$build/runtime:$PATH
export NNBURST_SOCKET=$tmp/socket
unset LTTNG_UST_REGISTER_TIMEOUT
trap 'stop_service; rm -rf "$tmp"' EXIT
service=

stop_service()
{
	[[ $service ]] || return 0
	kill "$service" && wait "$service" || true
	service=
}

# What the lines of a page would start in the background, and end. A reader's shell has the service until a line ends it.
nnburstd()
{
	[[ ! $service ]] || { echo "$each: starts a service before it has ended the last one" >&2; exit 1; }
	command nnburstd --socket "$NNBURST_SOCKET" "$@" </dev/null >/dev/null 2>&1 &
	service=$!
	until [[ -S $NNBURST_SOCKET ]]; do sleep 0.05; done
}

# run LINE: as a shell does. What it prints is shown, an empty line after it.
run()
{
	printf '$ %s\n' "$1"
	case $1 in
	nnburstd*'&') eval "${1%&}" ;;
	'kill %'*) stop_service ;;
	*) eval "$1" >"$tmp/out" 2>&1 </dev/null || true ;;
	esac
	[[ ! -s $tmp/out ]] || { sed "s:$tmp/here/::g" "$tmp/out"; echo; }
	: >"$tmp/out"
}

# whole TEXT: no string and no document is open at its end.
whole() { [[ ! $(bash -n <<<"$1" 2>&1) ]]; }

# block: the lines of one, on standard input, up to its end.
block()
{
	local line text=''

	while IFS= read -r line && [[ $line != '```' ]]; do
		if [[ $text ]]; then
			text+=$'\n'$line
		elif [[ $line == '$ '* ]]; then
			text=${line#'$ '}
		else
			continue
		fi
		whole "$text" || continue
		run "$text"
		text=
	done
}

# page PAGE: as it is to be.
page()
{
	local line

	while IFS= read -r line; do
		printf '%s\n' "$line"
		[[ $line == '<!-- session -->' ]] || continue
		IFS= read -r line
		printf '%s\n' "$line"
		block >"$tmp/block"
		sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$tmp/block"
		echo '```'
	done
}

mapfile -t pages < <(realpath "$@")
for each in "${pages[@]}"; do
	mkdir "$tmp/here"
	cd "$tmp/here"
	page <"$each" >"$tmp/page"
	cat "$tmp/page" >"$each"
	stop_service
	cd /
	rm -r "$tmp/here"
done
