#!/usr/bin/env bash
# hal.sh TREE -- each rule of the HAL that a source, a test or a manual page cites has its row in docs/hal-rules.md; each row is cited, and by
# the tests that it names.
. "$(dirname "$0")/rule.sh"

tree=$1
page=$tree/docs/hal-rules.md
id='([FBSPMQOD]-[0-9]+b?|R[0-9]{1,2}|section [0-9]+(\.[0-9]+)?)'
scratch

# A planted id is not a citation.
(cd "$tree" && grep -rowE "$id" runtime tests docs/man --include='*.[ch]' --include='*.sh' --include='*.[1-9]' --include='*.in' --exclude=planted.sh || true) >"$tmp/cited"
sed -nE "s/^\| $id \| [^|]+ \| ([^|]*) \|\$/\1|\3/p" "$page" >"$tmp/rows"

sort -t: -k2 -u "$tmp/cited" | while IFS=: read -r file cited; do
	grep -qF -- "$cited|" "$tmp/rows" || echo "$file cites $cited, which docs/hal-rules.md does not have"
done >"$tmp/unknown"
while IFS='|' read -r rule tests; do
	grep -qE -- ":$rule\$" "$tmp/cited" || echo "docs/hal-rules.md has $rule, which nothing cites"
	[[ $tests ]] || echo "docs/hal-rules.md names no test of $rule"
	for test in ${tests//,/ }; do
		grep -qE -- "(tests|validate)/([a-z0-9_]+/)*$test\.(c|h|sh):$rule\$" "$tmp/cited" || echo "$test does not cite $rule, as docs/hal-rules.md says"
	done
done <"$tmp/rows" >>"$tmp/unknown"
while read -r violation; do
	broken "$violation"
done <"$tmp/unknown"
judged "$(wc -l <"$tmp/cited") citations of $(wc -l <"$tmp/rows") rules"
