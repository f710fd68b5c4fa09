#!/usr/bin/env bash
# layers.sh TREE -- which room may include and link what. Every line of the table has its reason.
. "$(dirname "$0")/rule.sh"

tree=$1
looked=0

# files PLACES: the sources below the places that exist; a place with ! before it is left out.
files()
{
	local place
	local -a in=() out=()
	for place in $1; do
		if [[ $place == !* ]]; then
			out+=(-not -path "$tree/${place#!}*")
		elif [[ -e $tree/$place ]]; then
			in+=("$tree/$place")
		fi
	done
	((${#in[@]} == 0)) || find "${in[@]}" -type f "${out[@]}" "${@:2}"
}

# includes PLACES: FILE:LINE:HEADER of every #include.
includes()
{
	files "$1" '(' -name '*.[ch]' -o -name '*.def' ')' -print0 |
		xargs -0r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' |
		sed -E 's/^([^:]*:[0-9]+:)[^<"]*[<"]([^>"]*)[>"].*/\1\2/' || true
}

# objects REASON: to each FILE:LINE:WHAT on standard input.
objects()
{
	local file line what
	while IFS=: read -r file line what; do
		broken "${file#"$tree"/}:$line: $what: $1"
	done
	looked=$((looked + 1))
}

# deny PLACES REGEX REASON: no header that matches.
deny()
{
	objects "$3" < <(includes "$1" | grep -E "^[^:]*:[0-9]+:($2)" || true)
}

# only PLACES REGEX REASON: no header but those that match in full.
only()
{
	objects "$3" < <(includes "$1" | grep -vE "^[^:]*:[0-9]+:($2)\$" || true)
}

# unlinked ROOM REGEX REASON [LIBRARY]: no such word in what the room's CMakeLists.txt looks for or links; but LIBRARY it may link.
unlinked()
{
	local list=$tree/$1/CMakeLists.txt allowed=${4:-none}

	[[ -e $list ]] || return 0
	objects "$3" < <(
		# comments away, one command a line, its first line's number kept
		awk -v allowed="$allowed" '{ sub(/#.*/, "") }
			!depth { start = NR; text = "" }
			{ text = text " " $0; depth += gsub(/\(/, "(") - gsub(/\)/, ")") }
			!depth && text ~ /target_link_libraries|pkg_check_modules|find_package|find_library/ {
				gsub(/ +/, " ", text); gsub(" " allowed "[ )]", " ", text); print FILENAME ":" start ":" text }' "$list" |
			grep -iE "^[^:]*:[0-9]+:.*[^a-z0-9_]($2)" || true)
}

everywhere='tracepoints runtime analyzer viewer-cli'

deny "$everywhere tests"    '(.*/)?\.\./'    'rooms meet through their include directories, not by path'
deny "$everywhere"          'cmocka'         'tests depend on the rooms, never the other way'

deny 'tracepoints'          'nnb/|bsa/|bsv/|babeltrace2/|sqlite3' 'what can be observed depends on nobody'
deny "$everywhere !tracepoints/provider/ !viewer-cli/record/" 'lttng/' \
	'only the provider speaks to LTTng-UST, only viewer-cli/record to its sessions'
deny 'tracepoints/provider' 'lttng/lttng\.h' 'sessions are the business of viewer-cli/record'

deny 'runtime'              'bsa/|bsv/|babeltrace2/|sqlite3' 'the runtime knows the seam (nbt/) only'
deny 'runtime !runtime/driver/xnnpack/' 'xnnpack|pthreadpool' 'only its driver knows XNNPACK'
deny 'runtime/driver/null runtime/driver/xnnpack' '(burst|client|driver|fmq|memory|model|sched|service)/' \
	'a driver knows the public headers and itself, as a stranger'"'"'s would'
deny 'runtime/burst'        '(client|load|service)/' 'a burst is the same with and without a service'
deny 'runtime/service'      '(client|load)/' 'the service does not know who its clients are'
deny 'runtime/load'         '(burst|client|driver|fmq|memory|model|service)/' \
	'what makes load is an app: it knows the public headers'
deny 'runtime !runtime/model/ !runtime/load/' 'jansson' 'model files, scenarios and reports on them alone are JSON'
only 'runtime/policy' 'policy/[a-z]+\.h|nnb/policy\.h|(assert|stdbool|stddef|stdint)\.h' \
	'a policy is a pure decision: no clock, no thread, no lock, no other module'

deny 'analyzer'             'nnb/|bsv/'      'the analyzer knows traces, not the program that wrote them'
deny 'analyzer !analyzer/decode/ !analyzer/plugin/' 'babeltrace2/' 'only decode and plugin know babeltrace2'
deny 'analyzer !analyzer/store/' 'sqlite3'   'only the store knows SQLite'
deny 'analyzer/fold'        'nbt/|(.*/)?(decode|store|plugin)/|(stdio|unistd|fcntl)\.h|sys/' \
	'fold is events in, facts out: no SQL, no I/O'
deny 'analyzer/store'       'nbt/|(.*/)?(decode|plugin)/' 'the store is given facts by fold'
deny 'analyzer/decode'      '(.*/)?store/'   'decode hands events to fold'

deny 'viewer-cli'           'nnb/|nbt/|babeltrace2/|sqlite3' 'the viewer speaks bsa/ only, and reads views'
deny 'viewer-cli !viewer-cli/watch/' 'jansson' 'only watch reads JSON: its own cases'
deny 'viewer-cli/record'    'lttng/(ust|tracepoint)' 'record controls sessions and emits no events'

# What the service decides is asked again of a recording. A copy would be another policy: so who replays links to the one there is.
deny 'analyzer/decode analyzer/store analyzer/plugin' 'policy/' 'who replays a recording asks the policy; not who reads or keeps it'
deny 'viewer-cli !viewer-cli/whatif/' 'policy/' 'only what replays a recording asks the policy'
deny 'analyzer viewer-cli'  '(burst|client|driver|fmq|sched|service)/[a-z_]+\.h' \
	'of the runtime the policy alone is pure, and may be asked by others'

unlinked tracepoints 'nnburst([^a-z]|$)|nnb_|bsa|bsv|babeltrace|sqlite'  'what can be observed depends on nobody'
unlinked runtime     'bsa|bsv|babeltrace|sqlite|lttng|cmocka'       'the runtime knows the seam (nbt) only'
unlinked analyzer    'nnburst([^a-z]|$)|nnb_|bsv|lttng|cmocka'      'the analyzer knows traces only, and the policy that they are of' nnb_policy
unlinked viewer-cli  'nnburst([^a-z]|$)|nnb_|nbt|babeltrace|sqlite|lttng-ust|cmocka' 'the viewer knows bsa only, and the policy' nnb_policy

judged "$looked rules hold"
