#!/usr/bin/env bash
# docs.sh TREE -- what the README shows of files is what the files say, and what it points to is there.
. "$(dirname "$0")/rule.sh"

tree=$1
readme=$tree/README.md
shown=0

# The lines between ```c and ``` must be a file of docs/examples, whole.
block=$(awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$readme")
shopt -s nullglob
for example in "$tree"/docs/examples/*.c; do
	if [[ $block == *"$(<"$example")"* ]]; then
		shown=$((shown + 1))
	else
		broken "README.md does not show $(basename "$example") as it is"
	fi
done

while read -r target; do
	[[ -e $tree/$target ]] || broken "README.md points to $target, which is not there"
done < <(grep -oE '\]\([^):]+\)' "$readme" | tr -d '()]')

judged "README.md shows $shown examples as they are, and points to what exists"
