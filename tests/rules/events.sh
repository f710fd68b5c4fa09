#!/usr/bin/env bash
# events.sh CATALOGUE PAGE -- the page has every event and every named number as the catalogue has them, and no others.
. "$(dirname "$0")/rule.sh"

program=$1 page=$2
rows=$("$program")

while IFS= read -r row; do
	grep -qxF -- "$row" "$page" || broken "$page does not say: $row"
done <<<"$rows"
while IFS= read -r row; do
	grep -qxF -- "$row" <<<"$rows" || broken "$page says what is not in the catalogue: $row"
done < <(grep -E '^\| [`*][a-z_]+[`*] \|' "$page")
judged "$(wc -l <<<"$rows") rows"
