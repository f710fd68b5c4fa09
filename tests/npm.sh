# shellcheck shell=bash
# npm.sh -- to be sourced: what a test needs from npm's registry is fetched once for a build.

# fetched DIR PACKAGE@VERSION...: into DIR/node_modules. The test is skipped where npm is not installed or fetches nothing.
fetched()
{
	local dir=$1
	shift
	[[ $(cat "$dir/fetched" 2>/dev/null) != "$*" ]] || return 0
	command -v npm >/dev/null || {
		echo 'skipped: npm is not here'
		exit 77
	}
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$dir" "$@" >/dev/null 2>&1 || {
		echo 'skipped: npm fetches nothing here'
		exit 77
	}
	echo "$*" >"$dir/fetched"
}
