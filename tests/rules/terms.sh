#!/usr/bin/env bash
# terms.sh TREE -- the terms of docs/glossary.md that are also words of plain English, foreign, left out, unsure and inconclusive, mean one thing each in
# messages, SQL and documents (terms.awk). The counts of what an import left out are the ones that docs/database.md explains.
. "$(dirname "$0")/rule.sh"

here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
mapfile -t files < <(grep -rliE 'foreign|left|leaves|unsure|inconclusive' --include='*.c' --include='*.h' --include='*.def' --include='*.sql' \
	--include='*.md' --include='*.[1-8]' --include='*.[1-8].in' analyzer viewer-cli docs README.md | LC_ALL=C sort)
((${#files[@]})) || { broken 'no file uses a term'; exit 1; }
while read -r line; do
	broken "$line"
done < <(awk -f "$here/terms.awk" "${files[@]}")

# Each count that the import stores, and each that is explained.
stored=$(grep -rhoE '"left_out_[a-z_]+"' --include='*.c' analyzer | sed 's/"//g; s/^left_out_//' | LC_ALL=C sort -u)
explained=$(grep -hE '^\| `key`.*left_out_' docs/database.md | sed -E 's/.*left_out_ and what an import left out: //; s/\([^()]*\)//g; s/;.*//' | tr ',' '\n' | sed 's/^ *//; s/ *$//')
for count in $stored; do
	grep -qx "$count" <<<"$explained" || broken "docs/database.md does not explain left_out_$count"
done
judged "${#files[@]} files, and $(wc -w <<<"$stored") counts of what was left out"
