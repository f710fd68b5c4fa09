# terms.awk -- read C sources, SQL and documents; print each use of a term of docs/glossary.md for something else than its meaning there:
#
#   FILE:LINE WHY: TEXT
#
# What is judged is what a user reads: the strings of a C source (those that follow each other are one), each line of a .def, a whole file of
# SQL, and each paragraph of a document, where a row of a table is a paragraph. Comments of C are not judged.

function says(text, what) { return match(text, "(^|[^a-z])(" what ")([^a-z]|$)") }

function misused(place, why, text)
{
	gsub(/[ \t\n]+/, " ", text)
	print place " " why ": " substr(text, 1, 160)
}

function unit_judge(place, text,    t, rest)
{
	t = tolower(text)
	gsub(/[ \t\n]+/, " ", t)
	rest = t
	gsub(/foreign events?|foreign_(events|keys)/, "", rest)
	if (says(rest, "foreign"))
		misused(place, "foreign is an event of another provider, and nothing else", text)
	if (t ~ /(foreign|other providers)[^.;|]*left out/)
		misused(place, "left out is a part of the recording, and foreign events are none", text)
	if (t ~ /(lttng|the tracer) (leaves|left) out/)
		misused(place, "left out is a part of the recording, and what LTTng filters is none", text)
	if (t ~ /replays? (leaves|left) out/)
		misused(place, "left out is a part of the recording, and a replay takes causes away", text)
	rest = t
	gsub(/rel_same\([a-z_]*\)/, "", rest)
	if (says(rest, "unsure") && !says(rest, "causes?|miss_cause|without"))
		misused(place, "unsure is a miss of which a replay without a cause does not decide", text)
	if (says(t, "inconclusive") && place !~ /slo|check|render\/table/ && !says(t, "rules?|check|verdict|cannot tell"))
		misused(place, "inconclusive is the result of a rule of check; a verdict cannot tell", text)
}

function unit_end()
{
	if (unit != "")
		unit_judge(unit_at, unit)
	unit = ""
}

function unit_add(text)
{
	if (unit == "")
		unit_at = FILENAME ":" FNR
	unit = unit (kind == "c" ? "" : " ") text
}

# Strings of C: whatever but spaces, line ends and PRI macros between two of them ends the text.
function strings_read(line,    string)
{
	while (line != "") {
		if (in_comment) {
			if (!match(line, /\*\//))
				return
			in_comment = 0
			line = substr(line, RSTART + 2)
		} else if (match(line, /^([ \t]+|PRI[a-zA-Z0-9]+)/)) {
			line = substr(line, RLENGTH + 1)
		} else if (line ~ /^\/\*/) {
			in_comment = 1
			line = substr(line, 3)
		} else if (line ~ /^\/\//) {
			return
		} else if (match(line, /^"([^"\\]|\\.)*"/)) {
			string = substr(line, 2, RLENGTH - 2)
			gsub(/\\n/, " ", string)
			unit_add(string)
			line = substr(line, RLENGTH + 1)
		} else {
			unit_end()
			line = substr(line, match(line, /^'([^'\\]|\\.)*'/) ? RLENGTH + 1 : 2)
		}
	}
}

FNR == 1 {
	unit_end()
	in_comment = 0
	kind = FILENAME ~ /\.[ch]$/ ? "c" : FILENAME ~ /\.sql$/ ? "sql" : FILENAME ~ /\.def$/ ? "def" : "text"
}

kind == "c" { strings_read($0); next }
kind == "sql" { unit_add($0); next }
kind == "def" || /^\|/ || /^[ \t]*$/ || /^\.(Sh|Ss|It|Pp|Bl|El)/ { unit_end() }
{ unit_add($0) }

END { unit_end() }
