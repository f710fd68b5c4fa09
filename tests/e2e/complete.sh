#!/usr/bin/env bash
# complete.sh BURSTSCOPE MADE TRACE_FROM_TEXT TRACE -- bash, and zsh if it is installed, complete words typed on a
# terminal from the program's tables.
#
# MADE has the completions. In TRACE executions 7 and 12 missed their deadlines. The completed line does not run: its
# words go to a file.
set -euo pipefail
burstscope=$(realpath "$1") made=$(realpath "$2") trace_from_text=$3 trace=$4
command -v script >/dev/null || { echo 'skipped: no script'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -r "$tmp"' EXIT
failures=0

# The typed line, with a tab for each ~, and the words that it becomes, in <>.
cases=(
	'mis~'                         '<misses>'
	'misses --for~j~'              '<misses><--format><json>'
	'misses --format=c~'           '<misses><--format><csv>'
	'latency --col~nev~--show-~'  '<latency><--color><never><--show-sql>'
	'summary --verd~'            '<summary><--verdict>'
	'import --keep~-o bu~'        '<import><--keep-operations><-o><bursts.db>'
	'import a~'                    '<import><a directory>'
	'misses bu~'                   '<misses><bursts.db>'
	'schema slot_m~'               '<schema><slot_miss>'
	'help prio~'                   '<help><priority>'
	'explain wor~'                 '<explain><worst>'
	'sql --lim~'                    '<sql><--limit>'
	'sql slow~'                    '<sql><slowest>'
	'explain missed.db 1~'         '<explain><missed.db><12>'
	'timeline --aro~slow~'         '<timeline><--around><slowest>'
	'latency --by app,mod~'        '<latency><--by><app,model>'
	'record -- an_~'               '<record><--><an_app>'
	'misses --nothing~'            '<misses><--nothing>'
)

mkdir "$tmp/bin" "$tmp/a directory"
ln -s "$burstscope" "$tmp/bin/burstscope"
ln -s /bin/true "$tmp/bin/an_app"
: >"$tmp/bursts.db"
"$trace_from_text" -e full -h host -s missed -u 00000000-0000-4000-8000-000000000001 "$tmp/missed" <"$trace"
"$burstscope" import -q -o "$tmp/missed.db" "$tmp/missed"
cd "$tmp"

# lines SHELL SETUP...: print what is typed; ^E ends a line, and ^A begins it.
lines()
{
	local shell=$1 i
	shift

	printf '%s\n' "$@"
	for ((i = 0; i < ${#cases[@]}; i += 2)); do
		printf "burstscope %s\005>$shell.$i\001printf '<%%s>' \n" "${cases[i]//\~/$'\t'}"
	done
	printf 'exit\n'
}

# tried SHELL COMMAND SETUP...: type all lines and compare the completed words.
tried()
{
	local shell=$1 command=$2 i got
	shift 2

	lines "$shell" "$@" | HOME=$tmp TERM=dumb PATH=$tmp/bin:$PATH script -qec "$command" /dev/null >"$shell.log"
	for ((i = 0; i < ${#cases[@]}; i += 2)); do
		got=$(cat "$shell.$i" 2>&1) || true
		got=$(sed -E 's/(<--[a-z]+)=/\1></g; s:/>:>:' <<<"$got") # zsh makes one word of them, and removes the last slash
		[[ $got == "<burstscope>${cases[i + 1]}" ]] && continue
		echo "complete: $shell makes $got of: burstscope ${cases[i]}"
		failures=$((failures + 1))
	done
}

tried bash 'bash --norc --noprofile -i' 'set -o emacs; set +o history' ". '$made/burstscope.bash'"
if command -v zsh >/dev/null; then
	tried zsh 'zsh -f -i' 'bindkey -e; setopt no_beep' "fpath=('$made' \$fpath)" 'autoload -U compinit' 'compinit -u -D'
fi
((failures == 0)) || { cat bash.log; exit 1; }
