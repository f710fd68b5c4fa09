#!/usr/bin/env bash
# options.sh SERVICE LOAD FMQ CONFORMANCE -- the programs of the runtime report a wrong command line in one line, their
# help fits 80 columns, and bash completes the options of their tables.
set -euo pipefail
service=$(realpath "$1") load=$(realpath "$2") fmq=$(realpath "$3") conformance=$(realpath "$4")
failures=0

wrong()
{
	echo "options.sh: $*" >&2
	failures=$((failures + 1))
}

# refuses LINE PROGRAM ARGUMENT...: wrong usage; the program must print LINE, behind its name and before the hint at
# its help.
refuses()
{
	local line=$1 status=0 said name
	shift
	name=$(basename "$1")

	said=$(timeout 20 "$@" 2>&1 >/dev/null) || status=$? # what is taken for right may be a service that runs
	((status == 2)) || wrong "$name ${*:2} ends with $status"
	if [[ $line == *\? ]]; then line+=' See'; else line+='; see'; fi
	[[ $said == "$name: $line $name --help" ]] || wrong "$name ${*:2} prints: $said"
}

refuses "no option '--polcy'; did you mean '--policy'?" "$service" --polcy fair
refuses "no option '--lane'; did you mean '--lanes'?" "$service" --lane 2 # no name is abbreviated
refuses "no option '--lan'; did you mean '--lanes'?" "$service" --policy fair --lan=2
refuses "no option '--stat'; did you mean '--status'?" "$service" --stat=yes
refuses "no option '--pol'; did you mean '--policy'?" "$service" --pol
refuses "no option '--lis'; did you mean '--list'?" "$load" --lis
refuses "no option '--compl'; did you mean '--completion'?" "$fmq" --compl bash
refuses "no option '--valid'; did you mean '--validate'?" "$conformance" --valid models
refuses "no option '--zzzzzz'" "$service" --zzzzzz
refuses "no option '-x'" "$service" -x
refuses "--policy: no 'fiar'; did you mean 'fair'?" "$service" --policy fiar
refuses "--policy: no 'x'; write fair|priority|fifo|edf|native" "$service" --policy x
refuses '--policy: fair|priority|fifo|edf|native is missing' "$service" --policy
refuses '--status takes no value' "$service" --status=yes
refuses '--socket: PATH is empty' "$service" --socket ''
refuses "--lanes: '65' is not valid; write a number from 1 to 64" "$service" --lanes 65
refuses "--limit: 'model=8' is not valid; write a limit such as models=8, bytes=512M or work=100ms" "$service" --limit model=8
refuses "unexpected argument 'more'" "$service" more
refuses 'expected SCENARIO, --model FILE or --list' "$load"
refuses "no option '--modle'; did you mean '--model'?" "$load" --modle=x
refuses 'expected MODELS, a directory or a file' "$conformance"
refuses '--only and --junit go with --validate' "$conformance" --only model models
refuses 'expected measure, or show and a process' "$fmq"
refuses "no command 'mesure'" "$fmq" mesure
refuses 'show: expected the id of a process' "$fmq" show

for program in "$service" "$load" "$fmq" "$conformance"; do
	name=$(basename "$program")
	[[ $("$program" -h) == "$("$program" --help)" ]] || wrong "$name -h is not its help"
	long=$("$program" --help | awk 'length > 80')
	[[ ! $long ]] || wrong "$name --help is wider than 80 columns: $long"
	"$program" --completion zsh | grep -q "^#compdef $name\$" || wrong "$name has no completion for zsh"
	# shellcheck disable=SC1090 # what the program prints
	. <("$program" --completion bash)
done

# The list of scenarios fits a terminal of that width, too; in a pipe a scenario is one line.
long=$(script -qec "stty cols 80; '$load' --list" /dev/null </dev/null | tr -d '\r' | awk 'length > 80')
[[ ! $long ]] || wrong "nnburst-load --list is wider than 80 columns: $long"
[[ ! $("$load" --list | grep '^ ') ]] || wrong 'nnburst-load --list breaks lines in a pipe'

# A failed write is reported.
for line in "$service --help" "$load --version" "$load --list" "$fmq show $$" "$conformance --completion bash"; do
	status=0
	# shellcheck disable=SC2086 # words
	said=$($line 2>&1 >/dev/full) || status=$?
	[[ $status == 5 && $said == *': cannot write the output' ]] || wrong "$line >/dev/full ends with $status: $said"
done

# completes WORDS PROGRAM WORD...: print the completions of the last word, which may be empty.
completes()
{
	local words=$1 function
	shift
	function=$(complete -p "$(basename "$1")")
	function=${function#*-F }

	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	compopt() { :; } # compopt works only while bash completes
	set +e # compgen fails where it finds no word
	"${function%% *}"
	set -e
	[[ ${COMPREPLY[*]} == "$words" ]] || wrong "$(basename "$1") ${*:2} completes to: ${COMPREPLY[*]}"
}

here=$(mktemp -d)
trap 'rm -r "$here"' EXIT
cd "$here"
mkdir models
touch one.json one.txt
completes 'fair fifo' "$service" --policy f
completes '--policy --preempt --plain-bursts' "$service" --p
completes 'models=' "$service" --limit mo
completes 'always' "$service" --spin al
completes '--record' "$load" --rec
completes 'audio' "$load" audi
completes 'one.json' "$load" one
completes 'save restart both' "$conformance" --preempt ''
completes 'models' "$conformance" --cache m
completes 'measure show' "$fmq" ''
((failures == 0))
