# bash completion for burstscope(1)
_burstscope()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}

	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W 'import sql schema help --help --version' -- "$cur")
		return
	fi
	case $prev in
	--format) mapfile -t COMPREPLY < <(compgen -W 'table json csv' -- "$cur"); return ;;
	-o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	--threads) return ;;
	esac
	case $command-$cur in
	import--*) mapfile -t COMPREPLY < <(compgen -W '--output --append --keep-operations --threads --quiet --verbose --help' -- "$cur") ;;
	sql--*) mapfile -t COMPREPLY < <(compgen -W '--format --quiet --verbose --help' -- "$cur") ;;
	schema--*) mapfile -t COMPREPLY < <(compgen -W '--quiet --verbose --help' -- "$cur") ;;
	import-*) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	sql-*) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	schema-*) mapfile -t COMPREPLY < <(compgen -W "$(burstscope schema 2>/dev/null | cut -d ' ' -f 1)" -- "$cur") ;;
	help-*) mapfile -t COMPREPLY < <(compgen -W 'import sql schema' -- "$cur") ;;
	esac
}
complete -F _burstscope burstscope
