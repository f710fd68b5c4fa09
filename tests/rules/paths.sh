#!/usr/bin/env bash
# paths.sh TREE -- what is committed, or about to be, names no place of one machine and was not
# generated.
. "$(dirname "$0")/rule.sh"

tree=$1
places='(work|root|home/[^/[:space:]]+|Users)' # the first part of paths that only one machine has
wants git
git_here() { git -c safe.directory='*' -C "$tree" "$@"; }
if ! git_here rev-parse --git-dir >/dev/null 2>&1; then
	echo 'skipped: not a git tree'
	exit 77
fi

while read -r found; do
	broken "names a path of one machine: $found"
done < <(git_here grep --untracked -nIE "(^|[^[:alnum:]_./*\$}-])/$places/" -- || true)

while read -r file; do
	broken "is committed and ignored, so generated: $file"
done < <(git_here ls-files -ci --exclude-standard)
while read -r file; do
	broken "is a product, not a source: $file"
done < <(git_here ls-files -co --exclude-standard | grep -E '\.(o|a|so|so\.[0-9.]+|deb|gz|db|pyc)$' || true)

judged "$(git_here ls-files -co --exclude-standard | wc -l) files name no machine and are no products"
