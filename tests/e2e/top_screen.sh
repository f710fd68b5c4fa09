#!/usr/bin/env bash
# top_screen.sh BURSTSCOPE SERVICE LOAD -- burstscope top on a terminal, in tmux: keys, another size, another service,
# apps that end, a snapshot of the last seconds, a session daemon that dies; at any end the terminal is as before.
set -euo pipefail
command -v tmux >/dev/null || { echo 'skipped: no tmux'; exit 77; }
. "$(dirname "$0")/../recording.sh"
burstscope=$(realpath "$1") service=$2 load=$3
apps=
trap 'stop_jobs; tm kill-server 2>/dev/null || true; [[ ! $apps ]] || kill $apps 2>/dev/null || true; stop_service || true; stop_sessiond; rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TMUX_TMPDIR=$tmp TMPDIR=$tmp
unset TMUX NO_COLOR COLUMNS XDG_RUNTIME_DIR
cd "$tmp"

server=0 # each server has a new name, because the one before may still be ending
tm() { tmux -L "top$server" -f /dev/null "$@"; }
shown() { tm capture-pane -p 2>/dev/null; }

# awaits WORDS...: wait until all of them are shown.
awaits()
{
	local tries=0 words is
	while :; do
		is=$(shown || true)
		for words; do [[ $is == *"$words"* ]] || break; done
		[[ $is != *"$words"* ]] || return 0
		((++tries < 300)) || { wrong "${BASH_LINENO[0]}: not within 15 s: $words: $is"; return 0; }
		sleep 0.05
	done
}

# until_gone WORDS
until_gone()
{
	local tries=0
	while [[ $(shown) == *"$1"* ]]; do
		((++tries < 300)) || { wrong "${BASH_LINENO[0]}: shown for 15 s: $1"; return 0; }
		sleep 0.05
	done
}

load()
{
	"$load" --socket "$tmp/socket" --quiet "$tmp/two.json" >load.out 2>&1 &
	apps=$!
}

# screen COMMAND...: run it on a terminal, and compare the terminal before and after.
screen()
{
	server=$((server + 1))
	tm new-session -d -x 80 -y 24 "stty -g >before; env TERM=tmux-256color $*; echo ended \$?; stty -g >after;
		cmp before after && echo as it was; exec sleep 1000"
}

scenario two '{"name": "two", "duration": "60s", "apps": [
	{"name": "punctual", "streams": [{"name": "short", "model": "keyword", "period": "10ms"}]},
	{"name": "tardy", "streams": [{"name": "late", "model": "keyword", "period": "20ms", "deadline": "1us"}]}]}'
start_sessiond
start_another "$service"
load
screen "$burstscope" top

# ---- its output, and keys ----
awaits 'its own session, compact' 'EXEC/S' 'punctual' 'tardy' 'submitted_late' 'no event lost' 'order: rate'
(($(shown | wc -L) <= 80)) || wrong "wider than 80 columns: $(shown)"
tm send-keys o
awaits 'order: p99'
tm send-keys a
awaits 'app punctual alone'
until_gone tardy
tm send-keys a
awaits 'app tardy alone'
tm send-keys a
awaits 'punctual' 'tardy'
tm send-keys p
awaits PAUSED
tm send-keys p
until_gone PAUSED
tm send-keys s
awaits 'saved: burstscope-'
saved=$(echo burstscope-2*)
[[ -d $saved/ust ]] && "$burstscope" import -q -o saved.db "$saved" ||
	wrong "what is saved cannot be imported: $saved"
(($("$burstscope" sql --format csv saved.db "SELECT count(*) FROM execution JOIN app ON app.id = app_id WHERE app.name = 'tardy'" |
	tail -n 1) > 5)) || wrong 'what is saved has no executions of tardy'

# ---- another size, another service ----
tm resize-window -x 120 -y 8
awaits 'q quit' 'order: p99'
(($(shown | wc -l) <= 8)) || wrong "more lines than there are: $(shown)"
tm resize-window -x 80 -y 24
kill $apps
await_end "$apps" 'the load ends' 2>/dev/null || true
stop_service
start_another "$service"
load
awaits 'punctual' 'tardy'

# ---- at its end the terminal is as before ----
tm send-keys C-c
awaits 'in all:' 'ended 0' 'as it was'
[[ $(shown) != *EXEC/S* ]] || wrong "the table is still there: $(shown)"
tm kill-server

# ---- without colours; the reader and the session daemon die; a signal ----
screen "NO_COLOR=1 sh -c 'echo \$\$ >pid; exec $burstscope top'"
awaits 'EXEC/S' 'tardy'
[[ $(tm capture-pane -pe) != *$'\033[3'* ]] || wrong 'NO_COLOR, and colours'
kill -9 "$(pgrep -P "$(<pid)" burstscope-impo)"
awaits 'it begins anew'
awaits 'tardy'
kill $apps
await_end "$apps" 'the load ends' 2>/dev/null || true
apps=
stop_service
kill -9 "$sessiond"
await_end "$sessiond" 'lttng-sessiond is killed' 2>/dev/null || true
sessiond=
awaits 'session was made anew: nothing was recorded for' 'began anew 1 time'
start_another "$service"
load
awaits 'punctual' 'tardy'
kill "$(<pid)"
awaits 'in all:' 'ended 0' 'as it was'
tm kill-server
[[ ! $(find "$tmp" /dev/shm -maxdepth 1 -name 'burstscope-probe-*') ]] || wrong 'its directory is left'
! lttng --no-sessiond list >list 2>&1 || wrong "the session daemon that it started is left: $(<list)"
exit $((failures > 0))
