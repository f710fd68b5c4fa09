# bash completion for nnburst-load(1)
shopt -s extglob
_nnburst_load()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

	case $prev in
	--format) mapfile -t COMPREPLY < <(compgen -W 'table json' -- "$cur") ;;
	--model) mapfile -t COMPREPLY < <(compgen -f -X '!*.@(tflite|json)' -- "$cur"; compgen -d -S / -- "$cur") ;;
	--socket | --log) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	--duration | --seed) COMPREPLY=() ;;
	*)
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W '--socket --duration --seed --format --log --check --quiet
				--list --model --record --service --help --version' -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --list 2>/dev/null | cut -d ' ' -f 1)" -- "$cur"
				compgen -f -X '!*.json' -- "$cur"
				compgen -d -S / -- "$cur")
		fi
		;;
	esac
}
complete -F _nnburst_load nnburst-load
