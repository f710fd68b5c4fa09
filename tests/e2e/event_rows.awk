# event_rows.awk -- turn the text of babeltrace2 --clock-cycles --no-delta into the rows that
# tests/analyzer/recompute.sql reads: a line for each event, with tabs between the columns. Numbers stay text, because
# numbers of awk have 53 bits.
BEGIN {
	OFS = "\t"
	n = split("exec lane status path deadline_ns hit look queue other app stream priority mode", columns, " ")
}

match($3, /^nnburst:[a-z_]+:$/) {
	split("", field)
	for (i = 4; i < NF; i++)
		if ($(i + 1) == "=") {
			value = $(i + 2) == "(" ? $(i + 3) : $(i + 2) # ( "burst" : container = 0 )
			gsub(/[",]/, "", value)
			if (!($i in field)) # for a label, "container" follows
				field[$i] = value
		}
	if (field["exec"] + 0) # its upper half is the number of its stream
		field["stream"] = sprintf("%.0f", int(field["exec"] / 4294967296))
	# Another execution that the event names: the one that gets the lane, or the owner of a pool.
	field["other"] = "by" in field ? field["by"] : field["owner"] == "exec" ? field["owner_id"] : ""
	row = substr($1, 2, length($1) - 2) OFS substr($3, 9, length($3) - 9) OFS field["cpu_id"]
	for (i = 1; i <= n; i++)
		row = row OFS field[columns[i]]
	print row
}
