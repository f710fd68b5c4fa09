# prose.awk -- read C sources; print what a reader meets in them, one line each:
#
#   comment FILE:LINE KINDS TEXT    every comment; KINDS: "nobody" where it uses nobody, somebody, whoever or whom, "opening" where it
#                                   opens with a pronoun or goes on with a sentence that is not there, "-" else
#   function FILE:LINE KINDS NAME   every definition of a function; KINDS: "static", "word" (its name is one word), "once" (static, and
#                                   its file mentions it once more, as a call), "-" else
#   assert FILE:LINE                every assertion at run time
#   code FILE LINES                 every file, with its lines
#
# It is for sources that clang-format has laid out: a function's name and its `{` stand at the start of lines.

function comment_seen(text, place,    kinds, opening)
{
	gsub(/[ \t]+/, " ", text)
	sub(/^ /, "", text)
	if (text ~ /^-+|^[ =-]*$|clang-format|SPDX|NOLINT/)
		return
	opening = tolower(text)
	sub(/^[a-z_0-9]+\.[a-z]+ -- /, "", opening)
	if ((" " tolower(text) " ") ~ /[^a-z](nobody|somebody|whoever|whom|anybody|everybody)[^a-z]/)
		kinds = "nobody,"
	if (opening ~ /^(it|it's|they|he|she|who|whoever|whom|whose|what|whatever|which|none|nobody|somebody|such|neither|either)[ :;,.'](.*)/ ||
	    opening ~ /^(that|this|these|those) (is|are|was|were|has|have|had|can|may|must|does|do|did|will|would|makes?|gives?|takes?|says?|means?|it|they|who|a|the|of|for|to|which|what)[ ,.:;]/ ||
	    opening ~ /^(one|both)( of| that| which| more)?[:;,. ](is|are|was|has|it|they|them|each|$)/ ||
	    opening ~ /^(and|but|or|nor|so|then|than|too|also|thus|hence|of|told|said|told,) /)
		kinds = kinds "opening,"
	sub(/,$/, "", kinds)
	print "comment", place, kinds == "" ? "-" : kinds, text
}

# The text of line @l without comments and strings; comments are handed to comment_seen.
function code_of(l,    out, c, rest, end)
{
	while (l != "") {
		if (in_comment) {
			end = index(l, "*/")
			rest = end ? substr(l, 1, end - 1) : l
			sub(/^[ \t]*\*?[ \t]?/, "", rest)
			comment = comment " " rest
			if (!end)
				return out
			in_comment = 0
			comment_seen(comment, comment_at)
			l = substr(l, end + 2)
			continue
		}
		if (match(l, /^[^"'\/]+/)) {
			out = out substr(l, 1, RLENGTH)
			l = substr(l, RLENGTH + 1)
			continue
		}
		c = substr(l, 1, 1)
		if (substr(l, 1, 2) == "/*") {
			in_comment = 1
			comment = ""
			comment_at = FILENAME ":" FNR
			l = substr(l, 3)
		} else if (substr(l, 1, 2) == "//") {
			comment_seen(substr(l, 3), FILENAME ":" FNR)
			return out
		} else if (c == "/") {
			out = out c
			l = substr(l, 2)
		} else if (match(l, c == "\"" ? "^\"([^\"\\\\]|\\\\.)*\"" : "^'([^'\\\\]|\\\\.)*'")) {
			out = out c c
			l = substr(l, RLENGTH + 1)
		} else {
			out = out c
			l = substr(l, 2)
		}
	}
	return out
}

function function_ends_head(head,    name, word, kinds)
{
	if (head !~ /\(/ || head ~ /^(struct|enum|union)[^(]*$/ || head ~ /=[^=]*$/ && head !~ /\)[^=]*$/)
		return
	name = head
	sub(/^.*__attribute__\(\([^)]*\)+\)[ ]*/, "", name)
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	if (name !~ /^[A-Za-z_][A-Za-z0-9_]*$/ || name == "main")
		return
	word = name
	sub(/^(nnb|bsa|bsv|nbt|nnp)__?/, "", word)
	defined[++n_defined] = name
	at[n_defined] = FILENAME ":" FNR
	is_static[n_defined] = head ~ /^static /
	is_word[n_defined] = word !~ /_/
}

function file_ends(    i, kinds, word)
{
	for (i = 1; i <= n_defined; i++) {
		kinds = is_static[i] ? "static," : ""
		kinds = kinds (is_word[i] ? "word," : "")
		if (is_static[i] && mentions[defined[i]] - declared[defined[i]] == 2 && calls[defined[i]] - declared[defined[i]] == 2)
			kinds = kinds "once,"
		sub(/,$/, "", kinds)
		print "function", at[i], kinds == "" ? "-" : kinds, defined[i]
	}
	if (last_file != "")
		print "code", last_file, last_line
	n_defined = 0
	delete mentions
	delete calls
	delete declared
}

FNR == 1 { file_ends(); in_comment = 0; head = "" }

{
	last_file = FILENAME
	last_line = FNR
	code = code_of($0)
	if (code ~ /(^|[^a-z_])assert\(/)
		print "assert", FILENAME ":" FNR
	if (code ~ /^[{]/ && head != "")
		function_ends_head(head)
	if (code ~ /^[A-Za-z_]/ && code !~ /^(typedef|extern)/)
		head = code
	else if (code ~ /^[ \t]/ && head != "")
		head = head code
	if (code ~ /^[{}#]/ || code ~ /^$/)
		head = ""
	if (code ~ /;[ \t]*$/ && head != "") {
		if (head ~ /^static [^=]*\([^=]*\);[ \t]*$/) {
			word = head
			sub(/\(.*/, "", word)
			sub(/.*[ *]/, "", word)
			declared[word]++
		}
		head = ""
	}
	rest = code
	while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
		word = substr(rest, RSTART, RLENGTH)
		mentions[word]++
		rest = substr(rest, RSTART + RLENGTH)
		if (substr(rest, 1, 1) == "(")
			calls[word]++
	}
}

END { file_ends() }
