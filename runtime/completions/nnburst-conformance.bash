# bash completion for nnburst-conformance(1)
shopt -s extglob
_nnburst_conformance()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

	case $prev in
	--driver) mapfile -t COMPREPLY < <(compgen -W 'xnnpack null' -- "$cur"; compgen -f -- "$cur") ;;
	--path) mapfile -t COMPREPLY < <(compgen -W 'burst sync fenced both all' -- "$cur") ;;
	--preempt) mapfile -t COMPREPLY < <(compgen -W 'save restart both' -- "$cur") ;;
	--memory) mapfile -t COMPREPLY < <(compgen -W 'shared device both' -- "$cur") ;;
	--only) mapfile -t COMPREPLY < <(compgen -W 'model request burst deadline memory fence' -- "$cur") ;;
	--socket | --junit) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	--cache) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	*)
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W '--driver --cache --preempt --path --socket --memory --validate --only --junit --quiet --help --version' -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -d -- "$cur"; compgen -f -X '!*.@(tflite|json)' -- "$cur")
		fi
		;;
	esac
}
complete -F _nnburst_conformance nnburst-conformance
