#!/usr/bin/env bash
# database.sh COLUMNS PAGE -- the page has every relation, column and unit as the schema has them, and no others, below "## Relations".
. "$(dirname "$0")/rule.sh"

program=$1 page=$2

while IFS= read -r line; do
	broken "$page, below Relations ($program prints it): $line"
done < <(diff <("$program") <(sed '1,/^## Relations$/d' "$page") | grep '^[<>]')
judged "$("$program" | grep -c '^| `') columns"
