#!/usr/bin/env bash
# terminal.sh BURSTSCOPE TRACE_FROM_TEXT -- burstscope on a terminal, every letter of which is compared: its width,
# also after a resize; colours; the pager, which may end at any time; the line of an import. In tmux; without tmux in
# script(1), colours and lines only.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
burstscope=$(realpath "$1") trace_from_text=$2
command -v tmux >/dev/null || command -v script >/dev/null || { echo 'skipped: neither tmux nor script'; exit 77; }
tmp=$(mktemp -d)
export LC_ALL=C.UTF-8 TMUX_TMPDIR=$tmp
unset TMUX NO_COLOR COLUMNS PAGER BURSTSCOPE_PAGER LESS
failures=0

end()
{
	[[ ! ${server:-} ]] || tmux -L "$server" kill-server 2>/dev/null || true
	rm -rf "$tmp"
}
trap end EXIT

wrong()
{
	echo "terminal.sh: $*"
	failures=$((failures + 1))
}

cd "$tmp"
"$trace_from_text" -e full trace <"$here/../golden/camera.trace"
"$burstscope" import -q -o camera.db trace
rows='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, i * i AS square FROM n'

# ---- without tmux ----

# typed COMMAND: print its output on a terminal, raw.
typed() { script -qec "stty cols 80; $1" /dev/null </dev/null; }

if ! command -v tmux >/dev/null; then
	[[ $(TERM=xterm typed "'$burstscope' sql --no-pager camera.db slowest") == *$'\033[1m'* ]] || wrong 'no colours on a terminal'
	[[ $(TERM=xterm NO_COLOR=1 typed "'$burstscope' sql --no-pager camera.db slowest") != *$'\033['* ]] || wrong 'NO_COLOR, and colours'
	[[ $(typed "'$burstscope' import trace") == *$'\r'*' M events'* ]] || wrong 'an import, and no progress'
	((failures == 0)) || exit 1
	echo 'terminal.sh: as it should be, as far as script(1) can tell'
	exit 0
fi

# ---- in tmux ----

server=0
tm() { tmux -L "$server" -f /dev/null "$@"; }

# wait_until CONDITION...: wait for the condition, up to a limit.
wait_until()
{
	local i
	for ((i = 0; i < 400; i++)); do
		"$@" && return
		sleep 0.05
	done
	wrong "waited in vain for: $*: $(shown)"
}

shown() { tm capture-pane -p -S - -t it; }
painted() { tm capture-pane -p -e -S - -t it; }
is_shown() { shown | grep -qF -- "$1"; }
# The pager discards keys that are typed before it reads them.
ends_on_q() { is_shown 'status 0' || { tm send-keys -t it q && false; }; }
is_gone() { ! is_shown "$1"; }

# on WIDTH HEIGHT COMMAND: run it on a terminal of that size; at the end it shows "status N".
on()
{
	tm kill-server 2>/dev/null || true
	server=$((server + 1)) # the earlier server may still be ending
	tm new-session -d -s it -x "$1" -y "$2" "stty -echo; $3; echo \"status \$?\"; exec sleep 600"
}

# The screen has the output for that width, letter for letter: no line is folded or cut.
for width in 60 80 120; do
	on $width 100 "'$burstscope' sql --no-pager --limit 20 camera.db slowest"
	wait_until is_shown 'status 0'
	COLUMNS=$width "$burstscope" sql --color never --limit 20 camera.db slowest >wanted
	shown | sed '/^status/,$d' >seen
	diff -u wanted seen || wrong "at $width columns there is something else"
done
((failures > 0)) || ! cmp -s wanted <(COLUMNS=60 "$burstscope" sql --limit 20 camera.db slowest) || wrong 'the width makes no difference'

# The same after a resize.
on 120 50 "read go; '$burstscope' sql --no-pager --limit 5 camera.db slowest"
tm resize-window -t it -x 60
tm send-keys -t it Enter
wait_until is_shown 'status 0'
shown | sed '/^status/,$d' | sed '/./,$!d' >seen
COLUMNS=60 "$burstscope" sql --color never --limit 5 camera.db slowest | diff -u - seen || wrong 'resized to 60 columns there is something else'

# Colours: on a terminal, unless the user refuses them. Without colours no text is missing.
while IFS='|' read -r before arguments wanted; do
	on 100 60 "$before '$burstscope' sql --no-pager $arguments --limit 3 camera.db slowest"
	wait_until is_shown 'status 0'
	painted | grep -q $'\033\[' && seen=colours || seen=none
	[[ $seen == "$wanted" ]] || wrong "with '$before' and '$arguments': $seen, not $wanted"
	[[ ! -s first ]] && shown >first
	shown | cmp -s first - || wrong "with '$before' and '$arguments' other letters"
done <<'END'
|--color auto|colours
|--color never|none
env NO_COLOR=1|--color auto|none
env NO_COLOR=1|--color always|colours
env NO_COLOR=|--color auto|colours
env TERM=dumb|--color auto|none
env -u TERM|--color auto|none
END
! "$burstscope" sql --limit 3 camera.db slowest | grep -q $'\033' || wrong 'colours in a pipe'

# No name can command a terminal.
on 100 20 "'$burstscope' sql --no-pager camera.db \"SELECT char(27) || '[2Jgone' AS table_, char(155) || 'x' AS c1\"; '$burstscope' sql --format csv camera.db \"SELECT char(27) || '[2Jgone' AS csv\""
wait_until is_shown 'status 0'
is_shown '\x1b[2Jgone  \u009bx' || wrong "a table: $(shown)"
is_shown '\x1b[2Jgone' || wrong "csv: $(shown)"

# The pager shows long output page by page, and is not started for short output; the status is the command's.
on 80 20 "'$burstscope' sql camera.db '$rows'"
wait_until is_shown ' 12'
is_gone 'status' || wrong 'more than a page, and no pager'
is_gone ' 500' || wrong 'more than a page, and all of it is shown'
wait_until ends_on_q
on 80 20 "'$burstscope' sql camera.db 'SELECT 1 AS one'"
wait_until is_shown 'status 0'
is_shown 'coverage: 1 trace' || wrong "a page: $(shown)"
on 80 20 "PAGER=false '$burstscope' sql camera.db '$rows'" # a pager that reads nothing
wait_until is_shown 'status 0'
[[ $(shown | sed '/^$/d') == 'status 0' ]] || wrong "a pager that goes at once: $(shown)"
on 80 20 "PAGER=false BURSTSCOPE_PAGER='tail -n 1' '$burstscope' sql camera.db '$rows'"
wait_until is_shown 'status 0'
is_shown 'coverage: 1 trace' || wrong "BURSTSCOPE_PAGER: $(shown)"
on 80 20 "PAGER=no-such-pager '$burstscope' sql camera.db 'SELECT 1 AS one'"
wait_until is_shown 'status 0'
is_shown 'coverage: 1 trace' || wrong "a pager that is not there: $(shown)"
on 80 20 "PAGER='sh -c \"echo \\\$\\\$ >pid; exec less\"' '$burstscope' sql camera.db '$rows'"
wait_until is_shown ' 12'
kill -9 "$(<pid)"
wait_until is_shown 'status 0'
is_gone 'burstscope:' || wrong "a pager that is killed: $(shown)"
on 80 20 "'$burstscope' sql camera.db '$rows'"
wait_until is_shown ' 12'
tm send-keys -t it C-c # a key of less
wait_until ends_on_q
is_gone 'burstscope:' || wrong "Ctrl-C in the pager: $(shown)"

# An import overwrites one line, and removes it at the end.
on 100 20 "read go; '$burstscope' import -o again.db trace"
tm pipe-pane -t it "cat >'$tmp/raw'"
tm send-keys -t it Enter
wait_until is_shown 'status 0'
grep -q $'\r.* M events' raw || wrong "an import, and no progress: $(cat -v raw)"
is_gone ' M events' || wrong "of the progress something is left: $(shown)"
is_shown 'again.db: 1 trace, ' || wrong "an import says: $(shown)"

((failures == 0)) || exit 1
echo 'terminal.sh: all as it should be'
