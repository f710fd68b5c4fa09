#!/usr/bin/env python3
"""chrome.py -- check that the JSON of `export --to chrome` is the same trace as the one for Perfetto.

usage: chrome.py FILE.json OUT.db BEGAN   OUT.db is trackevent.py's; BEGAN is the recording's beginning, on its clock
"""
import decimal
import json
import sqlite3
import sys
from collections import Counter


def ns(us, began):
    value = decimal.Decimal(us) * 1000
    if value != int(value):
        sys.exit("chrome.py: %s is not in ns" % us)
    return int(value) + began


def main():
    path, out, began = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(path, encoding="utf-8") as f:
        events = json.load(f, parse_float=decimal.Decimal)["traceEvents"]
    db = sqlite3.connect(out)
    theirs = Counter(db.execute("SELECT replace(cats, ' ', ','), name, began, ended FROM event"))
    ours = Counter((e["cat"], e["name"], ns(e["ts"], began), ns(e["ts"] + e.get("dur", 0), began))
                   for e in events if e["ph"] in "Xi")
    if ours != theirs:
        sys.exit("chrome.py: slices and instants differ: %s %s" % (list((ours - theirs))[:3], list((theirs - ours))[:3]))
    theirs = Counter(db.execute("SELECT t.name, c.at, c.value FROM counter c JOIN track t ON t.uuid = c.track"))
    ours = Counter((e["name"], ns(e["ts"], began), e["args"]["value"]) for e in events if e["ph"] == "C")
    if ours != theirs:
        sys.exit("chrome.py: counters differ: %s %s" % (list((ours - theirs))[:3], list((theirs - ours))[:3]))
    theirs = Counter(db.execute("SELECT id, at FROM flow"))
    ours = Counter((e["id"], ns(e["ts"], began)) for e in events if e["ph"] in "stf")
    if ours != theirs:
        sys.exit("chrome.py: flows differ")
    args = Counter(db.execute("SELECT name, CAST(value AS TEXT) FROM arg"))
    if Counter((k, str(v)) for e in events if e["ph"] in "Xi" for k, v in e.get("args", {}).items()) != args:
        sys.exit("chrome.py: arguments differ")
    named = {e["args"]["name"] for e in events if e["ph"] == "M"}
    if named != {n for (n,) in db.execute("SELECT name FROM track WHERE unit IS NULL")}:
        sys.exit("chrome.py: tracks differ")


main()
