#!/usr/bin/env python3
"""scrapers.py -- ten programs that scrape an exporter ten times a second, and a thousand requests a second that no program should send.

usage: scrapers.py ADDRESS PORT SECONDS. Prints how many scrapes there were, how many of them failed, and how many other requests.
"""
import random
import socket
import sys
import threading
import time

WHERE, SECONDS = (sys.argv[1], int(sys.argv[2])), float(sys.argv[3])
SCRAPERS, PERIOD, HOSTILE = 10, 0.1, 1000
END = time.monotonic() + SECONDS
counts = {"scrapes": 0, "failed": 0, "hostile": 0}
lock = threading.Lock()


def count(what):
    with lock:
        counts[what] += 1


def scrape():
    try:
        with socket.create_connection(WHERE, 5) as s:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b""
            while piece := s.recv(1 << 16):
                answer += piece
        count("scrapes" if answer.startswith(b"HTTP/1.1 200") and b"burstscope_build_info" in answer else "failed")
    except OSError:
        count("failed")


def scrape_on():
    at = time.monotonic()
    while at < END:
        scrape()
        at += PERIOD
        time.sleep(max(0, at - time.monotonic()))


def bad_request(chance, kept):
    """One of: nothing at all, half a head, a head without end, noise, a method that is not allowed, an answer that is not read."""
    s = socket.create_connection(WHERE, 5)
    s.setblocking(False)
    kind = chance.randrange(6)
    if kind:
        s.send([b"GET /metr", b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 400, chance.randbytes(300), b"POST /metrics HTTP/1.1\r\n\r\n",
                b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"][kind - 1])
    if chance.randrange(2):
        kept.append(s)  # a connection that is left open
        if len(kept) > 100:
            kept.pop(0).close()
    else:
        s.close()


def be_hostile():
    chance, kept, at = random.Random(1), [], time.monotonic()
    while at < END:
        try:
            bad_request(chance, kept)
        except OSError:
            pass  # refused, or reset: it may be
        count("hostile")
        at += 1 / HOSTILE
        time.sleep(max(0, at - time.monotonic()))


threads = [threading.Thread(target=scrape_on) for _ in range(SCRAPERS)] + [threading.Thread(target=be_hostile)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(counts["scrapes"], counts["failed"], counts["hostile"])
