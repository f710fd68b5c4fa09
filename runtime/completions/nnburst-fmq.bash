# bash completion for nnburst-fmq(1)
_nnburst_fmq()
{
	local cur=${COMP_WORDS[COMP_CWORD]} words='--help'

	if ((COMP_CWORD == 1)); then
		words='measure show --help --version'
	elif [[ ${COMP_WORDS[1]} == show ]]; then
		words+=" $(cd /proc && echo [0-9]*)"
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _nnburst_fmq nnburst-fmq
