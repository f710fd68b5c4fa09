#!/usr/bin/env bash
# notrace.sh BUILD_DIR -- a build without tracing has not read a single LTTng header, even where LTTng
# is installed.
. "$(dirname "$0")/rule.sh"

wants ninja
deps=$(ninja -C "$1" -t deps)
[[ $deps ]] || broken "$1 has no record of what its objects were built from"

while read -r header; do
	broken "an object of the build without tracing depends on $header"
done < <(grep -E '(^|[ /])lttng/[^/]*\.h$' <<<"$deps" | sort -u || true)
judged 'no object depends on LTTng'
