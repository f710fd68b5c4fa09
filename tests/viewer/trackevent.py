#!/usr/bin/env python3
"""trackevent.py -- read a Perfetto trace, as protoc decodes it, into SQLite, to be compared with the trace's database.

usage: trackevent.py TRACE OUT.db [COMPRESSED]   COMPRESSED must hold the same packets, byte for byte.

The script fails where the trace breaks a rule of Perfetto: a field that our .proto lacks, an end without a beginning, a slice without an end, a name
that was never defined, an unknown clock, a flow with one end. It also fails for a packet that trace_processor, the importer of ui.perfetto.dev, would
leave out or read in another way, by the importer's source: data beside a snapshot of clocks, a clock that is twice in one or not joined to the
trace's, ids of 0, values for a track that is no counter, slices on a counter, too many values at once.
"""
import os
import re
import sqlite3
import subprocess
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
REALTIME, MONOTONIC, BOOTTIME, FIRST_OF_SEQUENCES = 1, 3, 6, 64
MORE_VALUES_MAX = 8  # trace_processor's kMaxNumExtraCounters
ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b'"': b'"', b"'": b"'", b"\\": b"\\"}


def fail(what):
    sys.exit("trackevent.py: " + what)


def unescaped(text):
    def one(m):
        e = m.group(1)
        return bytes([int(e, 8)]) if e[0:1].isdigit() else ESCAPES[e]

    return re.sub(rb"\\([0-7]{1,3}|.)", one, text, flags=re.S)


def decoded(data):
    return subprocess.run(
        ["protoc", "--decode=burstscope.tests.Trace", "-I" + HERE, HERE + "/trackevent.proto"],
        input=data, stdout=subprocess.PIPE, check=True).stdout


def packets(data):
    """Each packet as a dictionary of lists."""
    stack = [{}]
    for line in decoded(data).split(b"\n"):
        line = line.strip()
        if not line:
            continue
        if line == b"}":
            done = stack.pop()
            if len(stack) == 1:
                if "compressed_packets" in done:
                    if list(done) != ["compressed_packets"]:
                        fail("a packet of compressed packets has more")
                    yield from packets(zlib.decompress(done["compressed_packets"][0]))
                else:
                    yield done
            continue
        if line.endswith(b"{"):
            name, value = line[:-1].strip().decode(), {}
        else:
            name, value = line.split(b": ", 1)
            name = name.decode()
            value = unescaped(value[1:-1]) if value[:1] == b'"' else value == b"true" if value in (b"true", b"false") else int(value)
        if name[0].isdigit():
            fail("field %s is not in the .proto" % name)
        stack[-1].setdefault(name, []).append(value)
        if isinstance(value, dict):
            stack.append(value)
    if len(stack) != 1:
        fail("cut")


def inflated(data):
    """The bytes of the packets within the compressed packets of @data, which has no others."""
    parts = []
    for line in decoded(data).split(b"\n"):
        if line.startswith(b"  compressed_packets: "):
            parts.append(zlib.decompress(unescaped(line[len(b'  compressed_packets: "'):-1])))
        elif line not in (b"packet {", b"}", b""):
            fail("a compressed trace has something beside compressed packets")
    return b"".join(parts)


class Sequence:
    def __init__(self):
        self.clocks, self.texts, self.default_clock, self.default_track = {}, {}, BOOTTIME, 0


class Reader:
    def __init__(self, db):
        self.db, self.sequences, self.events, self.tracks, self.counters, self.n = db, {}, [], set(), set(), 0
        self.trace_clock, self.joined = None, set()  # the clock of the trace; the other clocks of its snapshots
        db.executescript("""
            CREATE TABLE track(uuid INTEGER PRIMARY KEY, parent, name, pid, unit);
            CREATE TABLE clock(id, at, is_primary);
            CREATE TABLE event(id INTEGER PRIMARY KEY, type, track, began, ended, name, cats, parent, top);
            CREATE TABLE arg(event INTEGER, name, value);
            CREATE TABLE counter(n, track INTEGER, at INTEGER, value);
            CREATE TABLE flow(id, event INTEGER, at, ends);""")

    def text(self, s, what, iid, where):
        if (what, iid) not in s.texts:
            fail("%s %d was never told, in %s" % (what, iid, where))
        return s.texts[what, iid]

    def intern(self, s, data):
        for what, entries in data.items():
            for e in entries:
                key, text = (what, e["iid"][0]), e.get("name", e.get("str", [b""]))[0].decode("utf-8")
                if not key[1]:
                    fail("0 is no id")
                if s.texts.setdefault(key, text) != text:
                    fail("%s %d is two texts" % key)

    def snapshot(self, s, snap, first):
        clocks = {c["clock_id"][0]: c for c in snap["clocks"]}
        if len(clocks) != len(snap["clocks"]):
            fail("a clock is twice in a snapshot")
        if first:
            self.trace_clock = snap.get("primary_trace_clock", [BOOTTIME if BOOTTIME in clocks else None])[0]
        elif "primary_trace_clock" in snap or BOOTTIME in clocks:
            fail("the clock of the trace changes")
        if self.trace_clock in clocks:
            self.joined |= set(clocks)
        elif not self.joined & set(clocks):
            fail("clocks %s are not joined to the trace's" % sorted(clocks))
        for i, c in clocks.items():
            if i >= FIRST_OF_SEQUENCES:
                same = clocks.get(MONOTONIC) or clocks[REALTIME]
                if not c.get("is_incremental") or c["timestamp"] != same["timestamp"]:
                    fail("a clock of a sequence that is not the trace's")
                s.clocks[i] = c["timestamp"][0]
            elif c.get("is_incremental"):
                fail("a clock of all sequences counts differences")
            elif first:
                self.db.execute("INSERT INTO clock VALUES(?, ?, ?)",
                                (i, c["timestamp"][0], i == snap.get("primary_trace_clock", [6])[0]))

    def time(self, s, p):
        clock = p.get("timestamp_clock_id", [s.default_clock])[0]
        if clock >= FIRST_OF_SEQUENCES:
            if clock not in s.clocks:
                fail("clock %d is not in a snapshot" % clock)
            s.clocks[clock] += p["timestamp"][0]
            return s.clocks[clock]
        if clock not in self.joined or p["timestamp"][0] >= 1 << 63:
            fail("clock %d, %d" % (clock, p["timestamp"][0]))
        return p["timestamp"][0]

    def packet(self, p):
        seq = p["trusted_packet_sequence_id"][0]
        flags = p.get("sequence_flags", [0])[0]
        if not seq or "clock_snapshot" in p and {"track_event", "track_descriptor", "timestamp"} & set(p):
            fail("trace_processor would not read all of packet %d" % self.n)
        if flags & 1:
            if seq in self.sequences:
                fail("sequence %d begins twice" % seq)
            self.sequences[seq] = Sequence()
        elif not flags & 2 or seq not in self.sequences:
            fail("a packet of a sequence that has not begun")
        s = self.sequences[seq]
        for d in p.get("trace_packet_defaults", []):
            s.default_clock = d["timestamp_clock_id"][0]
            s.default_track = d.get("track_event_defaults", [{}])[0].get("track_uuid", [0])[0]
        for snap in p.get("clock_snapshot", []):
            self.snapshot(s, snap, not self.n)
        for data in p.get("interned_data", []):
            self.intern(s, data)
        for t in p.get("track_descriptor", []):
            process = t.get("process", [{}])[0]
            name = (t.get("name") or process["process_name"])[0].decode("utf-8")
            if not t["uuid"][0] or t["uuid"][0] in self.tracks or not 0 < process.get("pid", [1])[0] < 1 << 31:
                fail("track %d" % t["uuid"][0])
            self.tracks.add(t["uuid"][0])
            if "counter" in t:
                self.counters.add(t["uuid"][0])
            self.db.execute("INSERT INTO track VALUES(?, ?, ?, ?, ?)", (
                t["uuid"][0], t.get("parent_uuid", [None])[0], name, process.get("pid", [None])[0],
                t.get("counter", [{}])[0].get("unit", [None])[0]))
            if t.get("parent_uuid", [None])[0] not in self.tracks | {None}:
                fail("a track whose parent is not there")
        for e in p.get("track_event", []):
            self.event(s, e, self.time(s, p))
        self.n += 1

    def event(self, s, e, at):
        track = e.get("track_uuid", [s.default_track])[0]
        kind = e["type"][0]
        for t in [track] + e.get("extra_counter_track_uuids", []):
            if t not in self.tracks:
                fail("an event on a track that is not there")
            if (t in self.counters) != (t != track or kind == COUNTER):
                fail("an event on a track of another kind")
        if len(e.get("extra_counter_values", [])) > MORE_VALUES_MAX:
            fail("more values at once than trace_processor takes")
        for t, v in zip(e.get("extra_counter_track_uuids", []), e.get("extra_counter_values", []), strict=True):
            self.db.execute("INSERT INTO counter VALUES(?, ?, ?, ?)", (self.n, t, at, v))
        if kind == COUNTER:
            self.db.execute("INSERT INTO counter VALUES(?, ?, ?, ?)", (self.n, track, at, e["counter_value"][0]))
            return
        name, cats = None, None
        if kind != END:
            name = e["name"][0].decode() if "name" in e else self.text(s, "event_names", e["name_iid"][0], e)
            cats = " ".join(self.text(s, "event_categories", c, e) for c in e["category_iids"])
        self.events.append((at, self.n, kind, track, name, cats))
        for a in e.get("debug_annotations", []):
            arg = a["name"][0].decode() if "name" in a else self.text(s, "debug_annotation_names", a["name_iid"][0], e)
            value = (a["int_value"][0] if "int_value" in a else a["string_value"][0].decode() if "string_value" in a
                     else self.text(s, "debug_annotation_string_values", a["string_value_iid"][0], e))
            self.db.execute("INSERT INTO arg VALUES(?, ?, ?)", (self.n, arg, value))
        for field, ends in (("flow_ids", 0), ("terminating_flow_ids", 1)):
            for f in e.get(field, []):
                self.db.execute("INSERT INTO flow VALUES(?, ?, ?, ?)", (str(f), self.n, at, ends))

    def nest(self):
        """In trace_processor's order: by time, and at the same time in the order of the file."""
        stacks, rows = {}, {}
        for at, n, kind, track, name, cats in sorted(self.events, key=lambda e: e[0]):
            stack = stacks.setdefault(track, [])
            if kind == END:
                if not stack:
                    fail("an end without a beginning, at %d" % at)
                rows[stack.pop()][4] = at
                continue
            parent, top = (stack[-1], stack[0]) if stack else (None, n)
            rows[n] = [n, kind, track, at, at if kind == INSTANT else None, name, cats, parent, top]
            if kind == BEGIN:
                stack.append(n)
        if any(stacks.values()):
            fail("a slice does not end")
        self.db.executemany("INSERT INTO event VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", rows.values())


def main():
    trace, out = sys.argv[1:3]
    with open(trace, "rb") as f:
        data = f.read()
    for compressed in sys.argv[3:]:
        with open(compressed, "rb") as f:
            if inflated(f.read()) != data:
                fail("%s holds something else" % compressed)
    db = sqlite3.connect(out, isolation_level=None)
    reader = Reader(db)
    db.execute("BEGIN")
    for p in packets(data):
        reader.packet(p)
    reader.nest()
    db.execute("CREATE INDEX arg_event ON arg(event, name)")
    db.execute("COMMIT")
    if not reader.n:
        fail("not one packet")


main()
