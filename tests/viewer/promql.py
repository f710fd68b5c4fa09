#!/usr/bin/env python3
"""promql.py -- sends the queries of dashboards to Prometheus, and compares its answers with a database.

usage: promql.py URL SCENARIO DB
"""
import json
import math
import sqlite3
import sys
import urllib.parse
import urllib.request

URL, SCENARIO, DB = sys.argv[1:]
FINE = "path <> 'prepare' AND complete AND status = 'NONE'"


def wrong(what):
    sys.exit("promql.py: %s: %s" % (SCENARIO, what))


def ask(expression, *keys):
    """The result of @expression as {labels: value}; S in it stands for the series of the scenario."""
    expression = expression.replace("S", 'scenario="%s"' % SCENARIO)
    with urllib.request.urlopen(URL + "/api/v1/query?" + urllib.parse.urlencode({"query": expression})) as answer:
        result = json.load(answer)["data"]["result"]
    return {tuple(r["metric"].get(k, "") for k in keys): float(r["value"][1]) for r in result}


def percentile(values, percent):
    values.sort()
    return values[math.ceil(percent * len(values) / 100) - 1]


def compare_percentiles(db):
    """p50 and p99 lie in the same bucket as those of the database."""
    keys, n = ("app", "model", "path"), 0
    bounds = sorted(float(le) for (le,) in ask('count by (le) (nnburst_execution_duration_seconds_bucket{S})', "le") if le != "+Inf")
    taken = {}
    for app, model, path, ns in db.execute("SELECT (SELECT name FROM app WHERE id = x.app_id), (SELECT name FROM model WHERE id = x.model_id), path, e2e_ns "
                                           "FROM execution x WHERE " + FINE):
        taken.setdefault((app or "unknown", model or "unknown", path), []).append(ns)
    for percent in 50, 99:
        answers = ask("histogram_quantile(%g, sum by (le, app, model, path) (nnburst_execution_duration_seconds_bucket{S}))" % (percent / 100), *keys)
        answers = {k: v for k, v in answers.items() if not math.isnan(v)}
        if answers.keys() != taken.keys():
            wrong("p%d: of %s, not of %s" % (percent, sorted(answers), sorted(taken)))
        for key, values in taken.items():
            seconds, below = percentile(values, percent) / 1e9, [0.0] + bounds
            low, high = max(b for b in below if b < seconds), min([b for b in bounds if b >= seconds] or [bounds[-1]])
            if not min(low, high) - 1e-12 <= answers[key] <= high + 1e-12:
                wrong("p%d of %s: %g s, and %g s in the database, between %g and %g" % (percent, key, answers[key], seconds, low, high))
            n += 1
    return n


def differ(answers, rows):
    """Either side may leave out values of 0."""
    ours = {k: v for k, v in answers.items() if v and not math.isnan(v)}
    theirs = {(app or "unknown",): float(v) for app, v in rows if v}
    same = ours.keys() == theirs.keys() and all(abs(ours[k] - theirs[k]) <= 1e-9 for k in ours)
    return None if same else "%s, and %s in the database" % (ours, theirs)


def compare_shares(db):
    """The exporter counts a window of lanes at the next event behind it, so the last window may be missing."""
    answers = ask("sum by (app) (nnburst_lane_received_seconds_total{S}) / scalar(sum(nnburst_lane_received_seconds_total{S}))", "app")
    said = []
    for windows in "<", "<=":
        sql = "SELECT * FROM app_lag WHERE window_began %s (SELECT max(window_began) FROM app_lag)" % windows
        said.append(differ(answers, db.execute("WITH closed AS (%s) SELECT name, 1.0 * sum(received_ns) / (SELECT sum(received_ns) FROM closed) "
                                               "FROM closed c JOIN app ON app.id = c.app_id GROUP BY 1" % sql)))
    if all(said):
        wrong("shares: " + "; or ".join(said))
    return len(answers)


def main():
    db = sqlite3.connect(DB)
    n = compare_percentiles(db)
    misses = ask("sum by (app) (nnburst_deadline_misses_total{S}) / sum by (app) (nnburst_deadlines_total{S})", "app")
    said = differ(misses, db.execute("SELECT (SELECT name FROM app WHERE id = x.app_id), 1.0 * count(miss) / count(deadline) FROM execution x "
                                     "WHERE path <> 'prepare' GROUP BY 1 HAVING count(deadline)"))
    if said:
        wrong("missed deadlines: " + said)
    shares = compare_shares(db)
    if not n or not shares:
        wrong("there is little to compare: %d percentiles, %d shares" % (n, shares))
    print("%s: %d percentiles, %d ratios of missed deadlines, %d shares agree" % (SCENARIO, n, len(misses), shares))


main()
