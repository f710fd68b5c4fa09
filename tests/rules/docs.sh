#!/usr/bin/env bash
# docs.sh TREE -- the C that the README shows is a file of docs/examples, whole; it points to every one of them; and
# what it points to is there.
. "$(dirname "$0")/rule.sh"

tree=$1
readme=$tree/README.md
shown=0

# The lines between ```c and ```, one block after the other.
while IFS= read -r -d '' block; do
	found=
	for example in "$tree"/docs/examples/*.c; do
		[[ $block == "$(<"$example")"$'\n' ]] && found=yes
	done
	if [[ $found ]]; then
		shown=$((shown + 1))
	else
		broken "README.md shows C that is no example as it is: $(head -n 1 <<<"$block")"
	fi
done < <(awk '/^```c$/ { on = 1; next } /^```$/ { if (on) printf "%c", 0; on = 0 } on' "$readme")

shopt -s nullglob
for example in "$tree"/docs/examples/*.c; do
	grep -qF "](docs/examples/$(basename "$example"))" "$readme" ||
		broken "README.md does not point to $(basename "$example")"
done

while read -r target; do
	[[ -e $tree/$target ]] || broken "README.md points to $target, which is not there"
done < <(grep -oE '\]\([^):#][^):#]*' "$readme" | tr -d '()]')

judged "README.md shows $shown examples as they are, and points to what exists"
