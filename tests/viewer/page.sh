#!/usr/bin/env bash
# page.sh BURSTSCOPE TRACE_FROM_TEXT -- `burstscope report`: its page in a real Chromium (page.mjs), about the traces
# of the golden tests, and about databases that are empty, damaged, or larger than the page may be; and the errors
# where it cannot write a page.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) golden=$(cd "$(dirname "$0")/../golden" && pwd)
burstscope=$1 trace_from_text=$2
for tool in "${CHROMIUM:-chromium}" node sqlite3; do
	command -v "$tool" >/dev/null || {
		echo "page.sh: skipped: there is no $tool"
		exit 77
	}
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0 looked=0 many=100000 crowd=100000
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"

wrong()
{
	echo "page.sh: $*"
	failures=$((failures + 1))
}

# says STATUS PATTERN COMMAND...: the command must end with STATUS and one line like PATTERN, and leave no file behind.
says()
{
	local status=0 wanted=$1 pattern=$2
	shift 2
	looked=$((looked + 1))
	"$@" >out 2>said || status=$?
	((status == wanted)) || wrong "$*: status $status, not $wanted"
	[[ $(<said) == $pattern && $(wc -l <said) == 1 ]] || wrong "$*: it says: $(<said)"
	[[ ! -s out ]] || wrong "$*: it prints something"
	[[ -z $(compgen -G 'page.html*') ]] || wrong "$*: a file is left"
}

for name in camera unfair lossy native whatif habit; do
	"$trace_from_text" -e full -s "$name" "$name" <"$golden/$name.trace"
	"$burstscope" import -q -o "$name.db" "$name"
done

# Beside native a kernel was recorded: cpu 0 is busy for half of each 2 ms, cpu 1 is busy in the first half of the
# recording and unknown in the second.
sqlite3 native.db "
	WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199), t(o, e) AS (SELECT min(began), max(ended) FROM trace) INSERT INTO stored_cpu_state
		SELECT 0, o + i * 1000000, o + (i + 1) * 1000000, i % 2, iif(i % 2, NULL, 78), '', NULL FROM n, t
		UNION ALL SELECT 1, o, o + (e - o) / 4, 0, 79, 'a', NULL FROM t UNION ALL SELECT 1, o + (e - o) / 4, o + (e - o) / 2, 0, 80, 'b', NULL FROM t
		UNION ALL SELECT 1, o, o + 1000, 2, NULL, 'timer', NULL FROM t"

sqlite3 habit.db 'UPDATE trace SET impostor_events = 2102'

# ---- mistakes ----
says 2 '*-o FILE.html*' "$burstscope" report --open camera.db
says 2 '*at least 1M*' "$burstscope" report --max-size 10k -o page.html camera.db
cp camera.db another.db
echo 'p50 e2e <= 60s' >page.slo
for there in camera.db another.db page.slo; do
	says 2 "*$there is there and is no page; write the name of a page*" "$burstscope" report -o "$there" camera.db
	says 2 "*$there is there and is no page; write the name of a page*" "$burstscope" check --slo page.slo --report "$there" camera.db
done
cmp -s camera.db another.db && [[ $(<page.slo) == 'p50 e2e <= 60s' ]] || wrong 'what is no page was written over'
says 2 '*--compare another.db: the page would be about that recording, too*' "$burstscope" report --compare another.db -o page.html ../"${PWD##*/}"/another.db
says 4 '*' "$burstscope" report -o page.html none.db
says 5 '*' "$burstscope" report -o none/page.html camera.db
[[ ! -e /dev/full ]] || says 5 '*' "$burstscope" report -o /dev/full camera.db
mkfifo pipe
says 5 '*pipe is a pipe that no program reads*' "$burstscope" report -o pipe camera.db
exec 9<>pipe 8>pipe 7<pipe 9>&- # 7 reads; 8 is open so that the reader waits for the first byte
"$burstscope" report -o pipe camera.db >out 2>said 7<&- 8>&- &
head -c 1 <&7 >/dev/null
exec 7<&- # the reader closes the pipe
status=0
wait $! || status=$?
((status == 5)) && [[ $(<said) == *'cannot be written'* && $(wc -l <said) == 1 ]] || wrong "a pipe whose reader ends: status $status, $(<said)"
exec 8>&-
exec 8<>pipe
cat pipe >read 8>&- &
"$burstscope" report -o pipe camera.db 8>&- || wrong 'a pipe that is read'
exec 8>&-
wait $!
[[ $(tail -c 8 read) == '</html>' ]] || wrong "into a pipe: $(tail -c 100 read)"
looked=$((looked + 2))
if unshare --mount true 2>/dev/null; then
	mkdir -p small
	says 5 '*small/page.html cannot be written: No space left on device' unshare --mount sh -c 'mount -t tmpfs -o size=64k own small && exec "$@"' sh "$burstscope" report -o small/page.html camera.db
	says 5 '*a temporary file in /tmp cannot be written*' unshare --mount sh -c 'mount --bind . /mnt && mount -t tmpfs -o size=4k own /tmp && cd /mnt && exec "$@"' \
		sh "$burstscope" report -o page.html camera.db
fi
head -c 5000 camera.db >cut.db
says 4 '*' "$burstscope" report -o page.html cut.db

# ---- a browser: a missing one, a failing one, one that opens the page ----
mkdir tools bare
for tool in failing:'exit 3' opening:'echo "$1" >>"${0%/*}/../opened"; sleep 0.2'; do
	mkdir -p "tools/${tool%%:*}"
	printf '#!/bin/sh\n%s\n' "${tool#*:}" >"tools/${tool%%:*}/xdg-open"
	chmod +x "tools/${tool%%:*}/xdg-open"
done
opens()
{
	local status=0 wanted=$1 pattern=$2 path=$3

	looked=$((looked + 1))
	PATH=$path "$burstscope" report --open -o opened.html camera.db >out 2>said || status=$?
	((status == wanted)) && [[ $(<said) == $pattern ]] || wrong "--open with PATH=$path: status $status, $(<said)"
	[[ -s opened.html ]] || wrong "--open with PATH=$path: no page"
	rm -f opened.html
}
opens 5 '*is there, but cannot be opened: xdg-open*' "$PWD/bare"
opens 5 '*is there, but xdg-open finds no browser*' "$PWD/tools/failing:$PATH"
opens 0 '' "$PWD/tools/opening:$PATH"
mkdir -p cases/20261123-030600-042
echo page >cases/20261123-030600-042/report.html
cat >cases/20261123-030600-042/case.json <<'END'
{"burstscope_case": 1, "name": "20261123-030600-042", "state": "explained", "summary": "camera's faces missed 12 deadlines", "fired": [], "causes": []}
END
status=0
PATH=$PWD/tools/failing:$PATH "$burstscope" cases --open last cases 2>said || status=$?
((status == 5)) && [[ $(<said) == *'report.html is there, but xdg-open finds no browser to open it' && $(wc -l <said) == 1 ]] ||
	wrong "cases --open without a browser: status $status, $(<said)"
# A user who may write to the directory of the cases may put a link to any page there, so the browser opens no link.
opened=$(<tools/opened)
mv cases/20261123-030600-042/report.html elsewhere.html
ln -s "$PWD/elsewhere.html" cases/20261123-030600-042/report.html
status=0
PATH=$PWD/tools/opening:$PATH "$burstscope" cases --open last cases 2>said || status=$?
((status == 4)) && [[ $(<said) == *'is sent to no link'* && $(<tools/opened) == "$opened" ]] ||
	wrong "cases --open of a link: status $status, $(<said)"
rm cases/20261123-030600-042/report.html
mv elsewhere.html cases/20261123-030600-042/report.html
[[ $(COLUMNS=80 "$burstscope" cases cases) == *'20261123-030600-042 '* ]] || wrong 'cases cuts the names of cases'
[[ $(<tools/opened) == "$(realpath opened.html)" ]] || wrong "xdg-open was given: $(<tools/opened)"
echo "<!doctype html>older" >there.html
"$burstscope" report -o there.html camera.db
grep -q data-pack there.html || wrong 'a page that is there is not replaced'

# ---- pages ----
for i in 1 2 3 4 5; do
	echo "${i}000000 exec_service exec=2:$i model=7 app=20 priority=low path=sync lane=0 status=none began=${i}00000 at=10,20,30,40,50,60,0,0,0,-"
done >service.text
# for two misses of unknown submission time, the service read the later one after its deadline
echo '6000000 exec_service exec=2:6 model=7 app=20 priority=low path=sync lane=0 status=none began=600000 at=10,20,30,40,50,60,0,0,0,- deadline_ns=590000
7000000 exec_service exec=2:7 model=7 app=20 priority=low path=sync lane=0 status=none began=700000 at=10,20,30,40,50,60,0,0,0,- deadline_ns=700030' |
	cat service.text - | "$trace_from_text" -e full -s service service
"$burstscope" import -q -o service.db service
for name in camera unfair lossy native whatif habit service; do
	"$burstscope" report -o "$name.html" "$name.db"
	node "$here/page.mjs" dump "$name.db" "$burstscope" >"$name.wanted"
	"$burstscope" summary "$name.db" | sed -n 's/^coverage: //p' >"$name.coverage"
done
[[ $(<habit.coverage) == *"2 102 events claim another user's uid and are left out"* ]] || wrong "a recording with impostors: $(<habit.coverage)"
"$burstscope" report camera.db >piped.html
cmp camera.html piped.html || wrong 'a pipe has something else'
looked=$((looked + 1))

cp camera.db hostile.db
sqlite3 hostile.db "UPDATE app SET name = CASE id % 2 WHEN 1 THEN '</script><script>globalThis.taken = 1</script><img src=x onerror=taken=1>'
	ELSE replace(hex(zeroblob(50000)), '0', 'n') END; UPDATE stored_model SET name = char(0x202e) || '<b>&amp;' || char(27) || id"
"$burstscope" report --title '</title><script>taken = 1</script>' -o hostile.html hostile.db

"$burstscope" report --where "app = 'nobody'" -o nobody.html "$PWD/camera.db" 2>said || wrong "a page without an execution: $(<said)"
[[ $(<said) == "the timeline and the charts of the page are empty: no execution fits \"where app = 'nobody'\"" ]] || wrong "a page without an execution: it says: $(<said)"
grep -q '<title>camera.db - burstscope</title>' nobody.html || wrong "the title of a page has directories: $(grep -o '<title>.*</title>' nobody.html)"
"$burstscope" report -q --where "app = 'nobody'" -o nobody.html camera.db 2>said
[[ ! -s said ]] || wrong "report -q says: $(<said)"
looked=$((looked + 3))

picks=(--from 10ms --to 40ms --where "app = 'camera'")
"$burstscope" report "${picks[@]}" -o part.html camera.db
"$burstscope" export -q --format json "${picks[@]}" camera.db >part.wanted
"$burstscope" sql --format json camera.db 'SELECT sum(s.ended - s.began) AS held FROM lane_slice s, (SELECT min(began) AS o FROM trace) WHERE s.began < o + 40000000 AND s.ended > o + 10000000' >part.held

cp native.db "it's.db"
"$burstscope" report -o "it's.html" "it's.db"
for i in 1 2 3 4 5; do
	echo "${i}000000 exec_client exec=2:$i model=7 path=sync deadline_ns=${i}900000 status=none began=${i}00000 at=1000,60000,61000,100"
done | "$trace_from_text" -e full -s clients clients
"$burstscope" import -q -o clients.db clients
"$burstscope" report -o clients.html clients.db

cp camera.db empty.db
sqlite3 empty.db 'DELETE FROM stored_execution; DELETE FROM stored_wait; DELETE FROM stored_wait_run; DELETE FROM stored_slice; DELETE FROM stored_lag; DELETE FROM stored_lag_run;
	DELETE FROM stored_preemption; DELETE FROM stored_deadline_miss; DELETE FROM unknown_lane; DELETE FROM id_block; DELETE FROM trace' 2>said || wrong "$(<said)"
"$burstscope" report -o empty.html empty.db || wrong 'an empty database has no page'

# More executions than the page may have, of more apps than it has colours and rows: each app is a copy of one of the
# first.
cp camera.db many.db
columns=$(sqlite3 camera.db "SELECT group_concat(CASE name WHEN 'id' THEN '1000 + i.n' WHEN 'app_id' THEN '1000 + i.n % $crowd' ELSE 'x.' || name END) FROM pragma_table_info('stored_execution')")
sqlite3 many.db "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < $many)
	INSERT INTO stored_execution SELECT $columns FROM i JOIN stored_execution x ON x.id = 1 + i.n % 3;
	WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < $crowd - 1)
	INSERT INTO app(id, trace_id, key, name) SELECT 1000 + n, 1, 5000 + n, 'app ' || n FROM i;
	INSERT INTO stored_share SELECT $(sqlite3 camera.db "SELECT group_concat(CASE name WHEN 'app_id' THEN 'a.id' ELSE 's.' || name END) FROM pragma_table_info('stored_share')")
		FROM (SELECT * FROM stored_share LIMIT 1) s, app a WHERE a.id >= 1000;
	INSERT INTO interference SELECT a.id, b.id, 1000 * a.id + b.id FROM app a, app b WHERE a.id BETWEEN 1000 AND 1021 AND b.id BETWEEN 1000 AND 1021" 2>said || wrong "many: $(<said)"
"$burstscope" report --max-size 1M -o many.html many.db
(($(stat -c %s many.html) < 1500000)) || wrong "--max-size 1M: $(stat -c %s many.html) bytes"
for name in before after; do
	"$trace_from_text" -e full -s "$name" "$name" <"$golden/$name.trace"
	"$burstscope" import -q -o "$name.db" "$name"
	node "$here/page.mjs" dump "$name.db" "$burstscope" >"$name.wanted"
	"$burstscope" summary "$name.db" | sed -n 's/^coverage: //p' >"$name.coverage"
done
"$burstscope" diff --format json before.db after.db >diff.wanted
"$burstscope" report --compare after.db -o compare.html before.db
"$burstscope" report --compare unfair.db -o strange.html camera.db

printf 'miss ratio <= 0 %%\np50 e2e <= 1s\nstarvation none\n' >rules.slo
"$burstscope" check --slo rules.slo --report checked.html camera.db >rules.out && wrong 'no rule failed'
grep -q FAIL rules.out || wrong "check --report says nothing of its own: $(<rules.out)"

node "$here/page.mjs" look "$burstscope" || failures=$((failures + 1))
echo "page.sh: $looked looked at, $failures wrong"
((failures == 0))
