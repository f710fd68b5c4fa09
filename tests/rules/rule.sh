# shellcheck shell=bash
# rule.sh -- what the rule scripts share; sourced. A rule prints each violation as one sentence, goes
# on to find the others, and ends with `judged`.
set -euo pipefail

violations=0

broken()
{
	printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2
	violations=$((violations + 1))
}

# judged WHAT: the end of a rule: 0 with a word of what was looked at, or 1.
judged()
{
	((violations == 0)) || exit 1
	printf '%s: %s\n' "$(basename "$0" .sh)" "$*"
}

# wants TOOL...: a missing tool skips the rule on a desk, and fails it where CI would go blind.
wants()
{
	local tool
	for tool; do
		command -v "$tool" >/dev/null && continue
		[[ ${CI:-} ]] && { broken "CI has no $tool"; exit 1; }
		echo "skipped: no $tool"
		exit 77
	done
}

# scratch: $tmp, a directory that goes away with the script.
scratch()
{
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
}

# prose_of TREE FOLDER...: what prose.awk finds in the C sources of the folders.
prose_of()
{
	local awk

	awk=$(cd "$(dirname "$0")" && pwd)/prose.awk
	(cd "$1" && find "${@:2}" -name '*.[ch]' | LC_ALL=C sort | xargs -r awk -f "$awk")
}
