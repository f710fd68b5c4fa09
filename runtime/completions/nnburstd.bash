# bash completion for nnburstd(8)
_nnburstd()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

	# bash takes = for a word of its own: --limit pools=8
	[[ $cur == = || $prev == = ]] && return
	case $prev in
	--socket | --cache-key) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	--app-identity) mapfile -t COMPREPLY < <(compgen -W 'uid pid' -- "$cur") ;;
	--driver) mapfile -t COMPREPLY < <(compgen -W 'xnnpack null' -- "$cur"; compgen -f -- "$cur") ;;
	--spin) mapfile -t COMPREPLY < <(compgen -W 'auto none always' -- "$cur") ;;
	--policy) mapfile -t COMPREPLY < <(compgen -W 'fair priority fifo edf native' -- "$cur") ;;
	--preempt) mapfile -t COMPREPLY < <(compgen -W 'save restart none' -- "$cur") ;;
	--deadline) mapfile -t COMPREPLY < <(compgen -W 'abort refuse advise' -- "$cur") ;;
	--lanes | --memory) COMPREPLY=() ;;
	--limit)
		compopt -o nospace
		mapfile -t COMPREPLY < <(compgen -S = -W \
			'connections channels models bursts buffers pools async bytes work total-connections' -- "$cur")
		;;
	*)
		mapfile -t COMPREPLY < <(compgen -W '--socket --app-identity --driver --spin --policy --lanes
			--preempt --deadline --memory --plain-bursts
			--cache-key --limit --status --metrics --help --version' -- "$cur")
		;;
	esac
}
complete -F _nnburstd nnburstd
