#!/usr/bin/env python3
"""openmetrics.py -- reads an exposition in OpenMetrics 1.0, refuses what the format forbids, and compares its values with the database.

usage: openmetrics.py FILE [DB]
"""
import re
import sqlite3
import sys
from collections import defaultdict
from decimal import Decimal

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
NUMBER = r"[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)"
SAMPLE = re.compile(r"(%s)(?:\{((?:%s(?:,|(?=\})))*)\})? (%s)(?: # \{(%s)\} (%s)(?: (%s))?)?" % (NAME, LABEL, NUMBER, LABEL, NUMBER, NUMBER))
SUFFIXES = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_count", "_sum"]}


def wrong(what):
    sys.exit("openmetrics.py: " + what)


def labels_of(text):
    return tuple((k, re.sub(r"\\(.)", r"\1", v)) for k, v in re.findall(LABEL, text or ""))


def parse(path):
    """Samples as {(name, labels): value}, exemplars as {(name, labels): (labels, value, time)}, and types."""
    with open(path, encoding="utf-8", newline="") as f:
        text = f.read()
    if not text.endswith("# EOF\n"):
        wrong("does not end in # EOF")
    samples, exemplars, types, family = {}, {}, {}, None
    for line in text.split("\n")[:-2]:
        if line.startswith("# "):
            _, keyword, name, rest = line.split(" ", 3)
            if keyword == "HELP":
                if name in types:
                    wrong("%s comes twice" % name)
                family = name
            elif keyword == "TYPE":
                types[name] = rest
            elif keyword == "UNIT" and not name.endswith("_" + rest):
                wrong("%s is in %s and does not say so" % (name, rest))
            if name != family:
                wrong("%s within %s" % (name, family))
            continue
        m = SAMPLE.fullmatch(line)
        if not m:
            wrong("no sample: " + line)
        name, labels = m.group(1), labels_of(m.group(2))
        if name not in [family + s for s in SUFFIXES[types[family]]]:
            wrong("%s within %s, a %s" % (name, family, types[family]))
        if (name, labels) in samples:
            wrong("twice: " + line)
        samples[name, labels] = Decimal(m.group(5).replace("Inf", "Infinity"))
        if m.group(6):
            if types[family] != "counter":
                wrong("an exemplar of a %s" % types[family])
            exemplars[name, labels] = (labels_of(m.group(6)), Decimal(m.group(9)), Decimal(m.group(10)))
    return samples, exemplars, types


def check_histograms(samples, types):
    for family in [f for f, t in types.items() if t == "histogram"]:
        sets = defaultdict(list)
        for (name, labels), value in samples.items():
            if name == family + "_bucket":
                sets[labels[:-1]].append((Decimal(dict(labels)["le"].replace("Inf", "Infinity")), value))
        for labels, buckets in sets.items():
            if buckets != sorted(buckets) or [v for _, v in buckets] != sorted(v for _, v in buckets):
                wrong("%s%s: buckets do not rise" % (family, labels))
            if buckets[-1] != (Decimal("Infinity"), samples[family + "_count", labels]):
                wrong("%s%s: +Inf is not the count" % (family, labels))


def compare(samples, name, keys, rows, scale=1):
    """@rows: values of the labels, and the value. Either side may leave out series of 0."""
    ours = {tuple(dict(k)[x] for x in keys): v for (n, k), v in samples.items() if n == name and v}
    theirs = {tuple("'other'" if x == "other" else x or "unknown" for x in row[:-1]): Decimal(row[-1]) / scale for row in rows if row[-1]}
    if ours != theirs:
        differ = [(k, ours.get(k), theirs.get(k)) for k in sorted(set(ours) | set(theirs)) if ours.get(k) != theirs.get(k)]
        wrong("%s: %d differ: %s" % (name, len(differ), differ[:3]))
    return len(ours)


APP = "(SELECT name FROM app WHERE id = %s)"
MODEL = "(SELECT nullif(name, '') FROM model WHERE id = x.model_id)"
X = "FROM execution x WHERE path <> 'prepare'"
FINE = X + " AND complete AND status = 'NONE'"
WHOLE = FINE + " AND sides <> 'service'"  # from submission to answer
NS = 10 ** 9


def compare_all(samples, exemplars, path):
    db = sqlite3.connect(path)
    q = lambda sql: db.execute(sql).fetchall()
    xa = APP % "x.app_id"
    n = compare(samples, "nnburst_executions_total", ["app", "model", "path", "status"],
                q("SELECT %s, %s, path, status, count(*) %s GROUP BY 1, 2, 3, 4" % (xa, MODEL, X)))
    n += compare(samples, "nnburst_executions_incomplete_total", ["app"], q("SELECT %s, count(*) %s AND NOT complete GROUP BY 1" % (xa, X)))
    name = "nnburst_execution_duration_seconds"
    n += compare(samples, name + "_count", ["app", "model", "path"], q("SELECT %s, %s, path, count(*) %s GROUP BY 1, 2, 3" % (xa, MODEL, WHOLE)))
    n += compare(samples, name + "_sum", ["app", "model", "path"], q("SELECT %s, %s, path, sum(e2e_ns) %s GROUP BY 1, 2, 3" % (xa, MODEL, WHOLE)), NS)
    for le in {dict(k)["le"] for (m, k) in samples if m == name + "_bucket"} - {"+Inf"}:
        part = {(m, k): v for (m, k), v in samples.items() if m == name + "_bucket" and dict(k)["le"] == le}
        n += compare(part, name + "_bucket", ["app", "model", "path"],
                     q("SELECT %s, %s, path, count(*) %s AND e2e_ns <= %d GROUP BY 1, 2, 3" % (xa, MODEL, WHOLE, Decimal(le) * NS)))
    for suffix, column, scale in (("_count", "n", 1), ("_sum", "sum_ns", NS)):
        n += compare(samples, "nnburst_phase_duration_seconds" + suffix, ["model", "phase"],
                     q("SELECT nullif(model, ''), phase, sum(%s) FROM phase_stat WHERE phase NOT IN ('e2e', 'overhead') GROUP BY 1, 2 UNION ALL "
                       "SELECT %s, 'overhead', %s %s AND e2e_ns - (run_ns - redo_ns) IS NOT NULL GROUP BY 1" %
                       (column, MODEL, "count(*)" if column == "n" else "sum(e2e_ns - (run_ns - redo_ns))", WHOLE)), scale)
    n += compare(samples, "nnburst_deadlines_total", ["app", "model"], q("SELECT %s, %s, count(deadline) %s GROUP BY 1, 2" % (xa, MODEL, X)))
    n += compare(samples, "nnburst_deadlines_missed_total", ["app", "model"],
                 q("SELECT %s, %s, count(miss) %s AND (deadline IS NOT NULL OR miss IS NOT NULL) GROUP BY 1, 2" % (xa, MODEL, X)))
    misses = q("SELECT %s, %s, (SELECT cause FROM miss_cause c WHERE c.execution_id = x.id AND is_primary), count(*), max(lateness_ns), id, deadline + lateness_ns "
               "%s AND miss IS NOT NULL GROUP BY 1, 2, 3" % (xa, MODEL, X))
    n += compare(samples, "nnburst_deadline_misses_total", ["app", "model", "cause"], [m[:4] for m in misses])
    for app, model, cause, _, late, x, at in misses:
        model = "'other'" if model == "other" else model
        key = ("nnburst_deadline_misses_total", (("app", app or "unknown"), ("model", model or "unknown"), ("cause", cause or "unknown")))
        if late is not None and exemplars.get(key, (0, 0, 0))[1:] != (Decimal(late) / NS, Decimal(at) / NS):
            wrong("the exemplar of %s: %s, not %s" % (key, exemplars.get(key), (late, x, at)))
    for metric, sql in (("lane_received_seconds_total", "received_ns"), ("lane_entitled_seconds_total", "entitled_ns"), ("lane_lag_max_seconds", "max_lag_ns")):
        n += compare(samples, "nnburst_" + metric, ["app"], q("SELECT %s, %s FROM app_share s" % (APP % "s.app_id", sql)), NS)
    n += compare(samples, "nnburst_starvations_total", ["app"], q("SELECT %s, count(*) FROM starvation s GROUP BY 1" % (APP % "s.app_id")))
    n += compare(samples, "nnburst_starved_seconds_total", ["app"], q("SELECT %s, sum(gap_ns) FROM starvation s GROUP BY 1" % (APP % "s.app_id")), NS)
    for metric, column in (("preemptions", "preemptions"), ("slot_misses", "slot_misses"), ("slot_lookups", "slot_lookups")):
        n += compare(samples, "nnburst_%s_total" % metric, ["app", "model"], q("SELECT %s, %s, sum(%s) %s GROUP BY 1, 2" % (xa, MODEL, column, X)))
    for metric, column in (("pool_mappings", "count(*)"), ("pool_mapped_bytes", "sum(bytes)")):
        n += compare(samples, "nnburst_%s_total" % metric, ["owner", "kind"], q("SELECT owner, kind, %s FROM pool_mapping GROUP BY 1, 2" % column))
    for metric in ("events", "lost_events", "lost_packets"):
        n += compare(samples, "burstscope_%s_total" % metric, [], q("SELECT sum(%s) FROM trace" % metric))
    n += compare(samples, "burstscope_losses_total", [], q("SELECT count(*) FROM loss"))
    return n


def main():
    samples, exemplars, types = parse(sys.argv[1])
    check_histograms(samples, types)
    n = compare_all(samples, exemplars, sys.argv[2]) if len(sys.argv) > 2 else 0
    print(len(samples), n, len(exemplars))


main()
