#!/usr/bin/env bash
# circles.sh TREE -- the folders of a room are floors: includes go down, so no folder includes another that includes it, by whatever way.
. "$(dirname "$0")/rule.sh"

tree=$1
folders=0

# edges ROOM: "FOLDER OTHER FILE HEADER" for every include of another folder's header.
edges()
{
	local file line header

	while IFS=: read -r file line header; do
		[[ -e $tree/$1/$header && ${file%%/*} != "${header%%/*}" && $file == */* ]] || continue
		echo "${file%%/*} ${header%%/*} $file:$line $header"
	done < <(cd "$tree/$1" && grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]*/' . |
		sed -nE 's|^\./([^:]*:[0-9]+):[^"]*"([^"]*)".*|\1:\2|p' | LC_ALL=C sort)
}

# Take away the folders that include no folder that is left, then those that none includes: what remains is in a circle, or between two.
in_circles()
{
	awk '{ n++; from[n] = $1; to[n] = $2; line[n] = $3 " includes " $4; left[$1]; left[$2] }
		END {
			for (changed = 1; changed;) {
				changed = 0
				delete out; delete in_
				for (i = 1; i <= n; i++)
					if (from[i] in left && to[i] in left) { out[from[i]]; in_[to[i]] }
				for (f in left)
					if (!(f in out) || !(f in in_)) { delete left[f]; changed = 1 }
			}
			for (i = 1; i <= n; i++)
				if (from[i] in left && to[i] in left) print line[i] ", and " to[i] "/ includes " from[i] "/, by itself or through others"
		}'
}

for room in tracepoints runtime analyzer viewer-cli; do
	[[ -d $tree/$room ]] || continue
	folders=$((folders + $(find "$tree/$room" -mindepth 1 -maxdepth 1 -type d | wc -l)))
	while read -r found; do
		broken "$room/$found"
	done < <(edges "$room" | in_circles)
done
judged "$folders folders, no circles"
