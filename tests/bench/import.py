#!/usr/bin/env python3
"""import.py TRACE DB -- what bench_import is held against: events and phases of a trace in SQLite, as one would write it."""
import sqlite3
import sys

import bt2

BOUNDARIES = ("exec_submit", "fmq_write", "fmq_read", "request_decode", "sched_enqueue", "sched_dispatch", "exec_end",
              "exec_return")


def rows(trace, executions):
    for message in bt2.TraceCollectionMessageIterator(trace):
        if type(message) is not bt2._EventMessageConst:
            continue
        event, at = message.event, message.default_clock_snapshot.ns_from_origin
        name = event.name.split(":")[1]
        fields = {key: str(value) if isinstance(value, bt2._StringFieldConst) else int(value)
                  for key, value in event.payload_field.items() if not isinstance(value, bt2._ArrayFieldConst)}
        number = fields.get("exec", 0)
        if name in BOUNDARIES:
            executions.setdefault(number, {})[name + str(fields.get("queue", ""))] = at
        yield name, at, number % 2**63, event.stream.id, repr(fields)


def main(trace, path):
    executions = {}
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("CREATE TABLE event (name TEXT, at INTEGER, exec INTEGER, stream INTEGER, fields TEXT)")
    db.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?)", rows(trace, executions))
    db.execute("CREATE TABLE execution (exec INTEGER, e2e INTEGER, queue INTEGER, run INTEGER)")
    db.executemany("INSERT INTO execution VALUES (?, ?, ?, ?)", (
        (number % 2**63, x["exec_return"] - x["exec_submit"], x["sched_dispatch"] - x["sched_enqueue"],
         x["exec_end"] - x["sched_dispatch"])
        for number, x in executions.items() if {"exec_submit", "exec_return", "sched_dispatch", "exec_end"} <= x.keys()))
    db.execute("CREATE INDEX execution_exec ON execution (exec)")
    db.commit()
    print(*db.execute("SELECT count(*), avg(e2e), max(e2e) FROM execution").fetchone())


if __name__ == "__main__":
    main(*sys.argv[1:3])
