# prose.awk -- read C sources; print what a reader meets in them, one line each:
#
#   comment FILE:LINE KINDS TEXT    every comment; KINDS: "nobody" where it uses nobody, somebody, whoever or whom, "opening" where it
#                                   opens with a pronoun or goes on with a sentence that is not there, "telling" where it uses tell, told, say
#                                   or said in place of emit, report, print or return, "-" else
#   function FILE:LINE KINDS NAME   every definition of a function; KINDS: "static", "word" (its name is one word), "once" (static, and
#                                   mentioned once more, as a call: in its file or, if its file is a header, in any file), "-" else.
#                                   The functions of headers come last.
#   assert FILE:LINE                every assertion at run time
#   code FILE LINES                 every file, with its lines
#   wide FILE:LINE COLUMNS          every line with a comment, or a part of one, that is wider than 120 columns, a tab being 8; not between
#                                   "clang-format off" and "on"
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
	if ((" " tolower(text) " ") ~ /[^a-z_](tells?|told|telling|says?|said|saying)[^a-z_]/)
		kinds = kinds "telling,"
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
			in_comment = commented = 1
			comment = ""
			comment_at = FILENAME ":" FNR
			l = substr(l, 3)
		} else if (substr(l, 1, 2) == "//") {
			commented = 1
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

# How many columns line @l takes.
function columns_of(l,    part, n, wide)
{
	n = split(l, part, "\t")
	for (i = 1; i < n; i++)
		wide = int((wide + length(part[i])) / 8 + 1) * 8
	return wide + length(part[n])
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

function function_seen(place, fixed, word, once, name,    kinds)
{
	kinds = (fixed ? "static," : "") (word ? "word," : "") (once ? "once," : "")
	sub(/,$/, "", kinds)
	print "function", place, kinds == "" ? "-" : kinds, name
}

function file_ends(    i, once, name)
{
	for (i = 1; i <= n_defined; i++) {
		name = defined[i]
		if (is_static[i] && last_file ~ /\.h$/) {
			shared[++n_shared] = name
			shared_at[n_shared] = at[i]
			shared_word[n_shared] = is_word[i]
			continue
		}
		once = is_static[i] && mentions[name] - declared[name] == 2 && calls[name] - declared[name] == 2
		function_seen(at[i], is_static[i], is_word[i], once, name)
	}
	if (last_file != "")
		print "code", last_file, last_line
	for (name in mentions) {
		all_mentions[name] += mentions[name] - declared[name]
		all_calls[name] += calls[name] - declared[name]
	}
	n_defined = 0
	delete mentions
	delete calls
	delete declared
}

FNR == 1 { file_ends(); in_comment = 0; head = ""; drawn = 0 }

/clang-format off/ { drawn = 1 }
/clang-format on/ { drawn = 0 }

{
	last_file = FILENAME
	last_line = FNR
	commented = in_comment
	code = code_of($0)
	if (commented && !drawn && columns_of($0) > 120)
		print "wide", FILENAME ":" FNR, columns_of($0)
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

END {
	file_ends()
	for (i = 1; i <= n_shared; i++)
		function_seen(shared_at[i], 1, shared_word[i], all_mentions[shared[i]] == 2 && all_calls[shared[i]] == 2, shared[i])
}
