#!/usr/bin/env bash
# planted.sh RULE BUILD_DIR -- proof that a rule can fail: plant violations, and want the rule to object
# to each of them, in the right words.
. "$(dirname "$0")/rule.sh"

here=$(cd "$(dirname "$0")" && pwd)
rule=$1 build=$2 planted=0
scratch

# objects WORDS COMMAND...: the rule fails, and says so in these words.
objects()
{
	local words=$1 said status=0
	shift

	said=$("$@" 2>&1) || status=$?
	if ((status != 1)); then
		broken "$rule ended with $status on a planted violation ($words): $said"
	elif [[ $said != *"$words"* ]]; then
		broken "$rule objected, but not with '$words': $said"
	fi
	planted=$((planted + 1))
}

# fails COMMAND...: the rule fails on all that is planted now, once for all of it; objected WORDS: it said so in these words.
fails()
{
	local status=0
	"$@" >"$tmp/said" 2>&1 || status=$?
	((status == 1)) || broken "$rule ended with $status on planted violations: $(<"$tmp/said")"
}
objected()
{
	grep -qF -- "$1" "$tmp/said" || broken "$rule did not object with '$1': $(<"$tmp/said")"
	planted=$((planted + 1))
}

# a FILE LINE...: a file below $tmp.
a()
{
	mkdir -p "$(dirname "$tmp/$1")"
	printf '%s\n' "${@:2}" >"$tmp/$1"
}

case $rule in
circles)
	a runtime/low/a.h 'int low_count(void);'
	a runtime/middle/a.c '#include "low/a.h"'
	a runtime/middle/a.h 'int middle_count(void);'
	a runtime/high/a.c '#include "middle/a.h"' '#include "low/a.h"'
	a runtime/high/a.h 'int high_count(void);'
	"$here/circles.sh" "$tmp" >/dev/null || broken 'circles objects to floors'
	a runtime/low/a.c '#include "high/a.h"'
	objects 'runtime/low/a.c:1 includes high/a.h, and high/ includes low/' "$here/circles.sh" "$tmp"
	;;
names)
	a good/a.c 'static int lane_count(void)' '{' '	return 0;' '}' '' 'int lane_all(void)' '{' '	return lane_count() + lane_count();' '}'
	"$here/names.sh" "$tmp" good >/dev/null || broken 'names objects to names with nouns'
	a word/a.c 'int leave(void)' '{' '	return 0;' '}'
	objects 'word/a.c:2: names of one word: leave' "$here/names.sh" "$tmp" word
	a once/a.c 'static int lane_count(void)' '{' '	return 0;' '}' '' 'int lane_all(void)' '{' '	return lane_count();' '}'
	objects 'once/a.c:2: static functions that are called once: lane_count' "$here/names.sh" "$tmp" once
	# A function of a header is called by other files: its own file does not say how often.
	a shared/a.h 'static inline int lane_count(void)' '{' '	return 0;' '}' '' 'static inline int lane_all(void)' '{' '	return lane_count();' '}'
	a shared/b.c 'int lane_some(void)' '{' '	return lane_count() + lane_all() + lane_all();' '}'
	"$here/names.sh" "$tmp" shared >/dev/null || broken 'names objects to a function of a header that two files call'
	a shared/b.c 'int lane_some(void)' '{' '	return lane_all();' '}'
	objects 'shared/a.h:7: static functions that are called once: lane_all' "$here/names.sh" "$tmp" shared
	for name in a b c d e; do
		a same/$name.c 'static int lane_count(void)' '{' '	return 0;' '}' '' "int lane_all_$name(void)" '{' '	return lane_count() + lane_count();' '}'
		[[ $name == e ]] || "$here/names.sh" "$tmp" same >/dev/null || broken "names objects to a name in the files up to $name"
	done
	objects 'same/a.c:2 same/b.c:2 same/c.c:2 same/d.c:2 same/e.c:2: static functions of 5 files have the name lane_count' "$here/names.sh" "$tmp" same
	a libc/a.c 'static int listen(int (*to)(void),' '                  int n)' '{' '	return to() + n;' '}'
	objects 'libc/a.c:1: has the name of a function of the C library: listen' "$here/names.sh" "$tmp" libc
	a runtime/service/a.c 'int lane_count(void)' '{' '	return 0;' '}'
	objects 'runtime/service has 0.0 asserts in 1000 lines' "$here/names.sh" "$tmp" runtime/service
	;;
words)
	a plain/a.c '/* a.c -- the lanes: each is a permit to use the device. */' '/* The caller holds the lock. */' 'int a; /* number of lanes */'
	"$here/words.sh" "$tmp" plain >/dev/null || broken 'words objects to plain English'
	a nobody/a.c '/* The queue is empty: nobody waits. */'
	objects 'nobody/a.c:1: uses nobody' "$here/words.sh" "$tmp" nobody
	a opening/a.c 'int a; /* a string: "/*" */' '' '/*' ' * It is over, and goes on.' ' */'
	objects 'opening/a.c:3: opens with a pronoun' "$here/words.sh" "$tmp" opening
	a fragment/a.h 'struct s {' '	int n; /* of the lanes */' '};'
	objects 'fragment/a.h:2: opens with a pronoun, or goes on' "$here/words.sh" "$tmp" fragment
	a telling/a.c '/* The service tells the client which limit that was. */'
	objects 'telling/a.c:1: uses tell, told, say or said' "$here/words.sh" "$tmp" telling
	a wide/a.c 'int a; /* a comment that begins behind code, and ends where no one looks, because it is wider than the window, by a lot */' \
		"const char *b = \"$(printf 'x%.0s' {1..120})\";"
	objects 'wide/a.c:1: a comment is 122 columns wide' "$here/words.sh" "$tmp" wide
	a block/a.h '/*' " *$(printf '\t%.0s' {1..10}) a line of a comment in which tabs take columns" ' */' '/* clang-format off */' \
		"/*$(printf '%120s')*/" '/* clang-format on */'
	objects 'block/a.h:2: a comment is 127 columns wide' "$here/words.sh" "$tmp" block
	a page/a.md '# Lanes' '' '    nobody listens    1.0' '' 'The user `nobody` is an app. The lane is idle:' 'nobody waits.'
	objects 'page/a.md:6: uses nobody' "$here/words.sh" "$tmp" page
	a manual/man/a.1 '.Bd -literal' 'nobody listens    1.0' '.Ed' 'Whoever waits is woken.'
	objects 'manual/man/a.1:4: uses nobody' "$here/words.sh" "$tmp" manual
	;;
terms)
	a viewer-cli/a.c '/* a foreign key, left out by LTTng */' 'const char *a = "1 foreign event";' 'const char *b = "3 packets are left out";'
	a analyzer/a.c 'const char *a = "left_out_late";'
	a docs/database.md '| `key` | text | counts; left_out_ and what an import left out: late (summaries); joined_ |' '| `unsure` | count | misses of which the replay without the cause cannot decide |'
	a README.md 'A rule is *inconclusive* where it cannot be told.'
	"$here/terms.sh" "$tmp" >/dev/null || broken 'terms objects to the terms as the glossary has them'
	plant()
	{
		a "$2" "${@:3}"
		objects "$2:1 $1" "$here/terms.sh" "$tmp"
		rm "$tmp/$2"
	}
	plant 'foreign is' viewer-cli/b.c 'const char *b = "a foreign "' '	"process holds the socket";'
	plant 'foreign is' docs/b.md 'A foreign entry is refused.'
	plant 'left out is' viewer-cli/b.c 'const char *b = "%s: LTTng leaves "' '	"out what " PRIu32 " emits";'
	plant 'left out is' docs/b.1.in 'Events of other providers are' 'left out.'
	plant 'left out is' analyzer/b.def 'REL_BATCH(miss_without, "what its replay left out: an app")'
	plant 'unsure is' analyzer/b.sql 'SELECT quality = '"'gap'"' AS unsure' 'FROM execution;'
	plant 'unsure is' analyzer/b.def 'REL_INT(unsure, "count", "inversions of which the limit is not known") REL_SAME(cause)'
	plant 'inconclusive is' docs/b.md 'The comparison of two recordings is inconclusive.'
	a analyzer/a.c 'const char *a = "left_out_late", *b = "left_out_evicted";'
	objects 'docs/database.md does not explain left_out_evicted' "$here/terms.sh" "$tmp"
	;;
hal)
	a docs/hal-rules.md '| F-1 | A queue. | test_x |' '| F-2 | Another. | test_x |' '| F-3 | No test. |  |'
	a tests/unit/test_x.c '/* F-1, Q-7 */'
	a runtime/x.c '/* F-3 */'
	objects 'tests/unit/test_x.c cites Q-7' "$here/hal.sh" "$tmp"
	objects 'has F-2, which nothing cites' "$here/hal.sh" "$tmp"
	objects 'test_x does not cite F-2' "$here/hal.sh" "$tmp"
	objects 'names no test of F-3' "$here/hal.sh" "$tmp"
	;;
unit)
	command -v systemd-analyze >/dev/null || exit 77
	a plain.service '[Service]' 'ExecStart=/usr/sbin/nnburstd' 'DynamicUser=yes'
	objects 'has more than an exposure of 2.0' "$here/unit.sh" "$tmp/plain.service"
	cp "$here/../../runtime/service/nnburstd.service.in" "$tmp/apart.service"
	sed -i '/^\[Service\]/a PrivateUsers=yes' "$tmp/apart.service"
	objects 'every client is the user nobody' "$here/unit.sh" "$tmp/apart.service"
	sed 's/^WatchdogSec=/WatchDogSec=/' "$here/../../viewer-cli/watch/burstscope-watch.service.in" >"$tmp/typo.service"
	objects 'systemd objects to' "$here/unit.sh" "$tmp/typo.service"
	;;
docs)
	a docs/examples/x.c 'int main(void)'
	a README.md '```c' 'int main()' '```' '[x](docs/examples/x.c)'
	objects 'no example as it is: int main()' "$here/docs.sh" "$tmp"
	a README.md '```c' 'int main(void)' '```'
	objects 'points to x.c' "$here/docs.sh" "$tmp"
	a README.md '```c' 'int main(void)' '```' '[x](docs/examples/x.c)' 'see [y](docs/y.md)'
	objects 'README.md points to docs/y.md' "$here/docs.sh" "$tmp"
	a docs/y.md '# The y' '```c' 'int main()' '```' '[z](z.md) [x](examples/x.c) [y](#the-y)' '[n](#no-y) [n](../README.md#no-x)'
	objects 'docs/y.md shows C that is no example as it is' "$here/docs.sh" "$tmp"
	objects 'docs/y.md points to z.md' "$here/docs.sh" "$tmp"
	objects 'points to #no-y' "$here/docs.sh" "$tmp"
	objects 'points to #no-x' "$here/docs.sh" "$tmp"
	a docs/y.md '# The y'
	a docs/performance.md '`./run bench x`, 2026-11-21:' '' '```' 'bench x: 21 rounds' '```' 'On 2026-11-21:' '```' '$ bench' '```'
	"$here/docs.sh" "$tmp" >/dev/null || broken 'docs objects to figures with a command and a day'
	a docs/performance.md '`./run bench x`:' '```' 'bench x: 21 rounds' '```'
	objects 'docs/performance.md:2: figures without' "$here/docs.sh" "$tmp"
	a docs/performance.md 'Measured on 2026-11-21:' '' '```' 'bench x: 21 rounds' '```'
	objects 'docs/performance.md:3: figures without' "$here/docs.sh" "$tmp"
	rm "$tmp/docs/performance.md"
	a run 'soak_parts()' 'x-asan asan test_x beside -' 'y release test_y alone 60' '}'
	a docs/soak.md '| part | what the part does |' '|---|---|' '| w, x-* | nothing |'
	objects 'docs/soak.md does not say what the part y of' "$here/docs.sh" "$tmp"
	a docs/soak.md '| part | what the part does |' '|---|---|' '| y, x-* | nothing |'
	"$here/docs.sh" "$tmp" >/dev/null || broken 'docs objects to parts of the soak that have their rows'
	a analyzer/store/labels.def 'REL_NAME(replay, one, 0)'
	a viewer-cli/reports/misses_undecided.sql "SELECT 'two', 2"
	a viewer-cli/audit/missed.c '} undecided[] = {' $'\t{ "one", "x" },' $'\t{ "two", "x" },' $'\t{ "three", "x" },' '};'
	a docs/figures.md '| reason | the miss |' '|---|---|' '| `one` | x |'
	objects 'missed.c has three, which is no reason' "$here/docs.sh" "$tmp"
	objects 'docs/figures.md has no reason two' "$here/docs.sh" "$tmp"
	a viewer-cli/audit/missed.c '} undecided[] = {' $'\t{ "one", "x" },' $'\t{ "two", "x" },' '};'
	a docs/figures.md '| reason | the miss |' '|---|---|' '| `one` | x |' '| `two` | x |'
	"$here/docs.sh" "$tmp" >/dev/null || broken 'docs objects to reasons that have their rows'
	;;
layers)
	# Forbidden edges: FILE HEADER WORDS. Each is a line of its file, and is named with it.
	edges=()
	while read -r file header words; do
		[[ -e $tmp/$file ]] || a "$file" '/* planted */'
		echo "# include <$header>" >>"$tmp/$file"
		edges+=("$file:$(wc -l <"$tmp/$file"): $header: $words")
	done <<-'EOF'
		runtime/fmq/x.c sqlite3.h the runtime knows the seam
		runtime/burst/x.c lttng/tracepoint.h only the provider
		runtime/model/x.c xnnpack.h only its driver knows
		runtime/driver/x.c xnnpack.h only its driver knows
		runtime/driver/xnnpack/x.c model/graph.h a driver knows the public
		runtime/driver/null/x.c driver/device.h a driver knows the public
		runtime/driver/x.c jansson.h model files, scenarios
		runtime/include/nnb/x.h bsa/db.h the runtime knows the seam
		runtime/fmq/x.c ../../analyzer/fold/fold.h rooms meet
		runtime/policy/policy.c time.h a policy is a pure decision
		runtime/policy/policy.c nbt/nbt.h a policy is a pure decision
		runtime/policy/policy.c string.h a policy is a pure decision
		runtime/policy/policy.h sched/lanes.h a policy is a pure decision
		runtime/policy/estimate.c stdatomic.h a policy is a pure decision
		runtime/policy/terms.c base/sys.h a policy is a pure decision
		analyzer/store/x.c policy/policy.h who replays a recording
		viewer-cli/stats/x.c policy/policy.h only what replays
		viewer-cli/whatif/x.c sched/run.h of the runtime the policy alone
		tracepoints/include/nbt/x.h lttng/tracepoint.h only the provider
		tracepoints/provider/x.c nnb/fmq.h what can be observed
		tracepoints/provider/x.c lttng/lttng.h sessions
		analyzer/store/x.c babeltrace2/babeltrace.h only decode
		analyzer/fold/x.c babeltrace2/babeltrace.h only decode
		analyzer/fold/x.c sqlite3.h only the store
		analyzer/decode/x.c sqlite3.h only the store
		analyzer/fold/x.c stdio.h fold is events in
		analyzer/fold/x.c nbt/events.def fold is events in
		analyzer/decode/x.c nnb/fmq.h the analyzer knows traces
		viewer-cli/commands/x.c sqlite3.h the viewer speaks bsa/
		viewer-cli/commands/x.c lttng/lttng.h only the provider
		viewer-cli/record/x.c lttng/tracepoint.h record controls
		viewer-cli/main.c cmocka.h tests depend on the rooms
	EOF
	fails "$here/layers.sh" "$tmp"
	for words in "${edges[@]}"; do objected "$words"; done
	rm -r "${tmp:?}"/{tracepoints,runtime,analyzer,viewer-cli}
	a runtime/CMakeLists.txt 'add_library(x x.c)' 'target_link_libraries(x PRIVATE' '  PkgConfig::SQLITE3)'
	objects 'runtime/CMakeLists.txt:2:' "$here/layers.sh" "$tmp"
	rm "$tmp/runtime/CMakeLists.txt"
	a viewer-cli/CMakeLists.txt 'target_link_libraries(x PRIVATE nnb_policy' '  nnb_policies)'
	objects 'viewer-cli/CMakeLists.txt:1:' "$here/layers.sh" "$tmp"
	rm "$tmp/viewer-cli/CMakeLists.txt"
	a tracepoints/CMakeLists.txt 'target_link_libraries(x PRIVATE nnb_policy)'
	objects 'tracepoints/CMakeLists.txt:1:' "$here/layers.sh" "$tmp"
	rm "$tmp/tracepoints/CMakeLists.txt"

	# And what is allowed passes.
	a analyzer/store/x.c '#include <sqlite3.h>'
	a analyzer/decode/x.c '#include <babeltrace2/babeltrace.h>'
	a viewer-cli/record/x.c '#include <lttng/lttng.h>'
	a tracepoints/provider/x.c '#include <lttng/tracepoint.h>'
	a runtime/policy/policy.c '#include <stdint.h>' '#include "policy/policy.h"'
	a viewer-cli/whatif/x.c '#include "policy/policy.h"'
	a viewer-cli/CMakeLists.txt 'target_link_libraries(x PRIVATE nnb_policy)'
	"$here/layers.sh" "$tmp" >/dev/null || broken 'layers objects to what is allowed'
	;;
queries)
	a viewer-cli/audit/a.c '/* one SELECT, FROM a comment' ' * WHERE it stands */' 'const char *examples = "  burstscope sql \047SELECT 1 FROM app\047\n";' \
		'const char *text = "select a model from the list, where LIMITS are";' 'const int quote = 0x22; /* "SELECT" */' \
		'const char *column = "worst_ns", *of = "s", *file = "a.db";' 'const char *help = "as in --where \"app = \047camera\047 AND cold\"";'
	"$here/queries.sh" "$tmp" >/dev/null || broken 'queries objects to comments, examples and plain words'
	while IFS= read -r text; do
		a viewer-cli/watch/x.c '/* planted */ int a;' "const char *x = $text;"
		objects 'viewer-cli/watch/x.c:2: SQL in C: ' "$here/queries.sh" "$tmp"
		objects 'viewer-cli/watch/x.c:2: SQL in C: ' "$here/queries.sh" "$tmp" watch
	done <<-'EOF'
		"SELECT 1"
		bsv_text("%sFROM %s", with, relation)
		"\"a\" WHERE id = " "1"
		"" /* "*/ "ORDER BY id"
		'"' + "\n\tLEFT JOIN app"
		"a.name AS app"
		"a.name"
		"%s AND cold"
		bsv_text("%s >= %" PRId64, began, from)
		bsv_text("app = %s", quoted)
		"path IS NOT 'prepare'"
		"coalesce(submitted, request_read)"
		"nullif(e2e_ns, 0)"
		"CASE h.model WHEN '' THEN '?' END"
		"start DESC"
		"app_id, model, priority"
		"dur_ns - stretch_ns"
		"s.service, s.losses"
		"number >> 20"
	EOF
	"$here/queries.sh" "$tmp" audit >/dev/null || broken 'queries judges a folder that it was not given'
	rm -r "$tmp/viewer-cli/watch" "$tmp/viewer-cli/audit"
	objects 'no C in' "$here/queries.sh" "$tmp"
	;;
headers)
	a include/nnb/x.h 'uint32_t x(void);'
	objects 'x.h does not compile alone as C11' "$here/headers.sh" "$tmp/include"
	a include/nnb/x.h 'int x(int class);'
	objects 'x.h does not compile alone as C++17' "$here/headers.sh" "$tmp/include"
	a include/nnb/x.h '#include <sqlite3.h>'
	a include/sqlite3.h 'struct sqlite3;'
	objects 'x.h shows its reader the types of' "$here/headers.sh" "$tmp/include"
	rm -r "$tmp/include/nnb" "$tmp/include/sqlite3.h"
	objects 'no headers' "$here/headers.sh" "$tmp/include"
	;;
events)
	gcc -I"$here/../../tracepoints/include" -o "$tmp/catalogue" "$here/catalogue.c"
	cp "$here/../../docs/events.md" "$tmp/events.md"
	"$here/events.sh" "$tmp/catalogue" "$tmp/events.md" >/dev/null || broken 'events objects to the page as it is'
	sed -i 's/lane u8, status/lane u16, status/' "$tmp/events.md"
	objects 'does not say: | `exec_end`' "$here/events.sh" "$tmp/catalogue" "$tmp/events.md"
	objects 'not in the catalogue: | `exec_end`' "$here/events.sh" "$tmp/catalogue" "$tmp/events.md"
	;;
database)
	# shellcheck disable=SC2016 # these are the page's
	columns=$build/tests/columns page=$here/../../docs/database.md
	"$here/database.sh" "$columns" "$page" >/dev/null || broken 'database objects to the page as it is'
	sed 's/^| `e2e_ns` | ns /| `e2e_ns` | us /' "$page" >"$tmp/database.md"
	objects '< | `e2e_ns` | ns |' "$here/database.sh" "$columns" "$tmp/database.md"
	objects '> | `e2e_ns` | us |' "$here/database.sh" "$columns" "$tmp/database.md"
	sed '/^### wait$/d' "$page" >"$tmp/database.md"
	objects '< ### wait' "$here/database.sh" "$columns" "$tmp/database.md"
	;;
pages)
	program=$build/viewer-cli/burstscope
	mkdir -p "$tmp/docs"
	cp -r "$here/../../docs/man" "$tmp/docs/man"
	"$here/pages.sh" "$program" "$tmp" >/dev/null || broken 'pages objects to the pages as they are'
	mv "$tmp/docs/man/burstscope-misses.1.in" "$tmp/docs/man/burstscope-hits.1.in"
	fails "$here/pages.sh" "$program" "$tmp"
	objected 'no page of burstscope misses'
	objected 'burstscope-hits is a page of no command'
	rm "$tmp/docs/man/burstscope-hits.1.in"
	a docs/man/burstscope-misses.1.in '.Dd November 21, 2026' '@head misses@' '.Xr nowhere 1' '@examples mises@' '.Bx' '.El'
	fails "$here/pages.sh" "$program" "$tmp"
	objected 'has no @options misses@'
	objected 'does not say the exit status'
	objected 'unknown mark @examples mises@'
	sed -i 's/mises/misses/' "$tmp/docs/man/burstscope-misses.1.in"
	objects 'points to nowhere(1)' "$here/pages.sh" "$program" "$tmp"
	;;
page)
	wants npm node
	page=$here/../../viewer-cli/report/page
	[[ -x $build/npm/node_modules/.bin/tsc ]] || exit 77
	cp -r "$page" "$page/../eslint.config.mjs" "$tmp/"
	sed -i 's/return grouped(String(n));/return n;/' "$tmp/page/format.js"
	echo 'export const places = 1;' >>"$tmp/page/data.js"
	echo "document.body.innerHTML = ''; if (document.title == 'x') fetch('y');" >>"$tmp/page/main.js"
	"$here/page.sh" "$tmp/page" "$build" >"$tmp/said" 2>&1 || true # once for all of them: the tools take seconds
	for words in "Type 'number' is not assignable to type 'string'" 'places is declared in two modules' 'text of a recording is no HTML' \
		"Expected '===' and instead saw '=='. (eqeqeq)" "Unexpected use of 'fetch'. (no-restricted-globals)"; do
		objects "$words" sh -c 'cat "$0"; exit 1' "$tmp/said"
	done
	;;
shown)
	program=$build/viewer-cli/burstscope
	# shellcheck disable=SC2016 # these are the documents'
	while IFS= read -r line; do
		a README.md '```' '$ burstscope schema' "$line" '```'
		objects 'shows what burstscope does not take' "$here/shown.sh" "$program" "$tmp"
	done <<-'EOF'
		$ burstscope misses --were "app = 'x'"
		$ burstscope summry
		    burstscope sql --format jsno bursts.db 'SELECT 1' | head
	EOF
	a README.md '```' "$ burstscope sql bursts.db 'SELECT" "1' | head" '```'
	"$here/shown.sh" "$program" "$tmp" >/dev/null || broken 'shown objects to what is right'
	a README.md '```' "$ burstscope sql bursts.db 'SELECT" '```'
	objects 'shows a line that does not end' "$here/shown.sh" "$program" "$tmp"
	;;
symbols)
	a x.c 'int nnb_fine(void); int nnb_fine(void) { return 0; }' 'int stray; int astray(void) { return 0; }'
	gcc -shared -fPIC -o "$tmp/libx.so" "$tmp/x.c"
	objects 'libx.so exports astray' "$here/symbols.sh" nnb_ "$tmp/libx.so"
	objects 'libx.so exports stray' "$here/symbols.sh" nnb_ "$tmp/libx.so"
	gcc -shared -fPIC -fvisibility=hidden -o "$tmp/libx.so" "$tmp/x.c"
	objects 'libx.so exports nothing' "$here/symbols.sh" nnb_ "$tmp/libx.so"
	gcc -c -o "$tmp/x.o" "$tmp/x.c" && ar rc "$tmp/libx.a" "$tmp/x.o"
	objects 'libx.a exports astray' "$here/symbols.sh" nnb_ "$tmp/libx.a"
	;;
links)
	a x.c 'int x(void) { return 0; }'
	for name in lttng-ust other; do
		gcc -shared -fPIC -Wl,-soname,lib$name.so.1 -o "$tmp/lib$name.so" "$tmp/x.c"
		gcc -shared -fPIC -Wl,--no-as-needed -o "$tmp/liby.so" "$tmp/x.c" -L"$tmp" -l$name
		cp "$tmp/liby.so" "$tmp/liby-$name.so"
	done
	objects 'needs liblttng-ust.so.1: what is traced never' "$here/links.sh" "$tmp/liby-lttng-ust.so"
	objects 'needs libother.so.1, which is not allowed' "$here/links.sh" "$tmp/liby-other.so"
	gcc -shared -fPIC -Wl,-soname,libbabeltrace2.so.0 -o "$tmp/libbabeltrace2.so" "$tmp/x.c"
	gcc -shared -fPIC -Wl,--no-as-needed -o "$tmp/burstscope" "$tmp/x.c" -L"$tmp" -lbabeltrace2
	objects 'burstscope needs libbabeltrace2.so.0: who asks' "$here/links.sh" "$tmp/burstscope"
	gcc -shared -fPIC -Wl,-soname,libXNNPACK.so.0 -o "$tmp/libXNNPACK.so" "$tmp/x.c"
	gcc -shared -fPIC -Wl,--no-as-needed -o "$tmp/driver-xnnpack.so" "$tmp/x.c" -L"$tmp" -lXNNPACK
	"$here/links.sh" "$tmp/driver-xnnpack.so" >/dev/null || broken 'links objects to what is allowed'
	cp "$tmp/driver-xnnpack.so" "$tmp/driver-null.so"
	objects 'needs libXNNPACK.so.0, which is not allowed' "$here/links.sh" "$tmp/driver-null.so"
	;;
notrace)
	a lttng/tracepoint.h
	a x.c "#include \"lttng/tracepoint.h\"" 'int x;'
	# shellcheck disable=SC2016 # these are ninja's variables
	a build.ninja 'rule cc' '  command = gcc -MD -MF $out.d -I. -c $in -o $out' '  deps = gcc' \
		'  depfile = $out.d' 'build x.o: cc x.c'
	objects 'has no record' "$here/notrace.sh" "$tmp"
	ninja -C "$tmp" >/dev/null
	objects 'depends on ' "$here/notrace.sh" "$tmp"
	;;
paths)
	git init -q "$tmp"
	a x.c "/* see /$(printf 'wo')rk/notes */"
	a y.c "path=/$(printf 'ro')ot/notes"
	objects 'x.c:1:' "$here/paths.sh" "$tmp"
	objects 'y.c:1:' "$here/paths.sh" "$tmp"
	rm "$tmp"/?.c
	a .gitignore '/build/'
	a build/out.txt 'made'
	git -C "$tmp" add -f build/out.txt
	objects 'generated: build/out.txt' "$here/paths.sh" "$tmp"
	git -C "$tmp" rm -qf build/out.txt
	a x.o 'made'
	objects 'a product, not a source: x.o' "$here/paths.sh" "$tmp"
	;;
install)
	"$here/install.sh" "$build" >/dev/null || exit
	DESTDIR=$tmp cmake --install "$build" --prefix /usr >/dev/null
	rm "$tmp/usr/share/man/man1/nnburst-fmq.1.gz"
	objects 'missing or empty: /usr/share/man/man1/nnburst-fmq.1.gz' "$here/installed.sh" "$tmp" "$build"
	a usr/share/man/man1/nnburst-fmq.1.gz 'plain'
	objects 'not gzip: /usr/share/man/man1/nnburst-fmq.1.gz' "$here/installed.sh" "$tmp" "$build"
	sed -i 's/--lanes//' "$tmp/usr/share/bash-completion/completions/nnburstd"
	objects 'bash-completion/completions/nnburstd lacks --lanes' "$here/installed.sh" "$tmp" "$build"
	;;
package)
	a deb/DEBIAN/control 'Package: burstscope' 'Version: 0' 'Architecture: all' \
		'Maintainer: none <none@burstscope.invalid>' 'Description: planted'
	wants dpkg-deb
	dpkg-deb -b --root-owner-group "$tmp/deb" "$tmp/x.deb" >/dev/null
	objects 'Depends does not name the C library' "$here/package.sh" "$tmp/x.deb"
	objects 'carries no shlibs' "$here/package.sh" "$tmp/x.deb"
	sed -i '1s/burstscope/other/' "$tmp/deb/DEBIAN/control"
	dpkg-deb -b --root-owner-group "$tmp/deb" "$tmp/x.deb" >/dev/null
	objects 'not named burstscope' "$here/package.sh" "$tmp/x.deb"
	;;
*)
	broken "nothing to plant for $rule"
	;;
esac
judged "$rule objects to $planted planted violations"
