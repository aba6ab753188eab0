#!/usr/bin/env python3
"""Kills a server with `--data` again and again, and fills its disk, while clients write and watch: nothing acknowledged is lost.

    scripts/data-rounds.py [--rounds N] [--seed N] [--seconds S] [--mode MODE] PROGRAM

Each round starts PROGRAM, lets four writers and a watcher work, in every second round with a full disk for a while, and ends the
server by SIGKILL. The next round finds every acknowledged write, each unknown one with or without its effect, no other object, no
revision that a client has seen with another content, and no revision behind one that it has seen.

The disk is a tmpfs if this may mount one; otherwise a limit of the length of files stands for it. `--mode interval=10s` acknowledges
before the sync, which has to be caught: the exit status is 1.

Exit status: 0 if all holds, 1 if something was lost, 2 if the rounds could not be run.
"""

import argparse
import http.client
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

MAPS = "/api/v1/namespaces/default/configmaps"
WRITERS = 4
DISK = 96 << 20
# The objects of a writer.
OBJECTS = 100
# The longest wait for anything.
PATIENCE = 60


class Lost(Exception):
    """A promise is broken."""


class History:
    """What clients know: the states that each object may have, and what each revision was seen with."""

    def __init__(self):
        self.lock = threading.Lock()
        self.allowed = {}
        self.seen = {}
        self.acknowledged = 0
        self.unknown = 0
        self.refused = 0

    def see(self, revision, content):
        """Notes that a revision was shown with a content."""
        with self.lock:
            before = self.seen.setdefault(revision, content)
        if before != content:
            raise Lost(f"revision {revision} was {before}, and is {content}")

    def begin(self, name, state):
        with self.lock:
            self.allowed.setdefault(name, {None}).add(state)

    def end(self, name, before, state, status):
        """Notes how a write ended: by what states the object may have now."""
        with self.lock:
            if status in (200, 201):
                self.acknowledged += 1
                self.allowed[name] = {state}
            elif status == 503:
                self.refused += 1
                self.allowed[name] = {before}
            else:
                self.unknown += 1

    def check(self, objects, revision):
        """Compares the history with a list of all objects, and goes on from there."""
        with self.lock:
            if self.seen and revision < max(self.seen):
                raise Lost(f"the server is at revision {revision}, and a client has seen {max(self.seen)}")
            for name, allowed in self.allowed.items():
                found = objects.get(name)
                if found not in allowed:
                    raise Lost(f"{name} is {found}, and may be {sorted(map(str, allowed))}")
                self.allowed[name] = {found}
            strangers = objects.keys() - self.allowed.keys()
            if strangers:
                raise Lost(f"{sorted(strangers)} were never written")


class Client:
    """A connection to the server."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE)

    def ask(self, method, path, body=None):
        """Returns the status and the body, or `None` if the connection broke."""
        try:
            text = json.dumps(body) if body is not None else None
            self.connection.request(method, path, text, {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        except (OSError, http.client.HTTPException, ValueError):
            self.connection.close()
            return None, None


def state_of(item):
    return item["data"]["n"] if item else None


def write(history, address, number, seed, stop, errors):
    """Creates, changes and deletes objects of its own until the server is gone."""
    chance = random.Random(seed)
    client = Client(address)
    with history.lock:
        own = [name for name in history.allowed if name.startswith(f"w{number}-")]
    count = 0
    while not stop.is_set():
        count += 1
        with history.lock:
            own = [name for name in own if history.allowed[name] != {None}]
            living = [name for name in own if len(history.allowed[name]) == 1]
        # As many are deleted as created, so that there is room on the disk.
        kind = chance.uniform(0, 0.6) if len(living) > OBJECTS else chance.random()
        state = f"{seed}-{count}"
        try:
            if living and kind < 0.6:
                name = chance.choice(living[-20:])
                with history.lock:
                    before = next(iter(history.allowed[name]))
                if kind < 0.25:
                    state = None
                    history.begin(name, None)
                    status, _ = client.ask("DELETE", f"{MAPS}/{name}")
                else:
                    history.begin(name, state)
                    body = {"metadata": {"name": name}, "data": {"n": state, "x": "x" * chance.randrange(20_000)}}
                    status, answer = client.ask("PUT", f"{MAPS}/{name}", body)
                    if status == 200:
                        history.see(int(answer["metadata"]["resourceVersion"]), [name, state])
            else:
                name, before = f"w{number}-{state}", None
                own.append(name)
                history.begin(name, state)
                body = {"metadata": {"name": name}, "data": {"n": state, "x": "x" * chance.randrange(20_000)}}
                status, answer = client.ask("POST", MAPS, body)
                if status == 201:
                    history.see(int(answer["metadata"]["resourceVersion"]), [name, state])
            history.end(name, before, state, status)
            if status is None:
                return
            if status == 503:
                # Reads go on: what was acknowledged is there.
                read, item = client.ask("GET", f"{MAPS}/{name}")
                if before and read == 200 and state_of(item) != before:
                    raise Lost(f"{name} was read as {state_of(item)} while writes were refused, and is {before}")
                stop.wait(0.01)
        except Lost as error:
            errors.append(error)
            return


def watch(history, address, revision, errors):
    """Notes every event until the server is gone: all of them have to be there in the next round."""
    host, port = address.rsplit(":", 1)
    try:
        connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE)
        connection.request("GET", f"{MAPS}?watch=1&resourceVersion={revision}")
        answer = connection.getresponse()
        last = revision
        while line := answer.readline():
            if not line.endswith(b"\n"):
                return
            event = json.loads(line)
            item = event["object"]
            if event["type"] == "ERROR":
                return
            now = int(item["metadata"]["resourceVersion"])
            if now <= last:
                raise Lost(f"a watch went from revision {last} to {now}")
            last = now
            state = None if event["type"] == "DELETED" else state_of(item)
            history.see(now, [item["metadata"]["name"], state])
    except Lost as error:
        errors.append(error)
    except (OSError, http.client.HTTPException, ValueError):
        return


class Server:
    """The program on its disk."""

    def __init__(self, options, folder, is_mounted):
        self.options = options
        self.folder = folder
        self.is_mounted = is_mounted
        self.process = None

    def start(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        flags = ["--data", str(self.folder / "state"), "--data-sync", self.options.mode]
        self.process = subprocess.Popen(
            [self.options.program, "serve", "--listen", "127.0.0.1:0", *flags],
            stdout=subprocess.PIPE,
            stderr=open(self.folder.parent / "said", "ab"),
            text=True,
            preexec_fn=limit,
            restore_signals=False,
        )
        line = self.process.stdout.readline()
        if not line.startswith("listening on http://"):
            said = (self.folder.parent / "said").read_text(encoding="utf-8")[-2_000:]
            raise Lost(f"the server does not start: {said}")
        return line.strip().removeprefix("listening on http://")

    def fill(self):
        """Leaves no room, or hardly any."""
        if self.is_mounted:
            with open(self.folder / "filler", "wb", buffering=0) as filler:
                try:
                    while filler.write(b"\0" * 65_536):
                        pass
                except OSError:
                    return
        longest = max(path.stat().st_size for path in self.folder.glob("state*"))
        hard = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (longest + 1_000, hard))

    def make_room(self):
        if self.is_mounted:
            (self.folder / "filler").unlink(missing_ok=True)
        elif self.process.poll() is None:
            hard = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)[1]
            resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (hard, hard))

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)


def verify(history, address):
    """Compares the server with the history, and returns its revision."""
    status, found = Client(address).ask("GET", MAPS)
    if status != 200:
        raise Lost(f"the objects cannot be listed: {status}")
    items = {item["metadata"]["name"]: state_of(item) for item in found["items"] if item["metadata"]["name"].startswith("w")}
    revision = int(found["metadata"]["resourceVersion"])
    history.check(items, revision)
    return revision


def run_round(server, history, chance, number, seconds):
    address = server.start()
    try:
        revision = verify(history, address)
        stop, errors = threading.Event(), []
        threads = [threading.Thread(target=watch, args=(history, address, revision, errors))]
        for writer in range(WRITERS):
            arguments = (history, address, writer, f"{number}-{writer}-{chance.random()}", stop, errors)
            threads.append(threading.Thread(target=write, args=arguments))
        for thread in threads:
            thread.start()
        time.sleep(seconds * chance.uniform(0.2, 1))
        if number % 2:
            server.fill()
            time.sleep(seconds * chance.uniform(0.2, 0.6))
            # In some rounds the server is killed while the disk is full.
            if chance.random() < 0.6:
                server.make_room()
                time.sleep(seconds * chance.uniform(0.3, 0.6))
        server.kill()
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
        server.make_room()
    finally:
        if server.process.poll() is None:
            server.kill()
    if errors:
        raise errors[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="PROGRAM", help="the program fakeserver")
    parser.add_argument("--rounds", type=int, default=200, metavar="N", help="how many times it is killed (default: 200)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of what is written, and when (default: 1)")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="of a part of a round, at most (default: 1)")
    parser.add_argument("--mode", default="always", metavar="MODE", help="of --data-sync (default: always)")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    history = History()
    parent = Path(tempfile.mkdtemp(prefix="data-rounds-"))
    folder = parent / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
    is_mounted = os.geteuid() == 0 and subprocess.run(mount, stderr=subprocess.DEVNULL, check=False).returncode == 0
    server = Server(options, folder, is_mounted)
    status = 0
    number = 0
    try:
        for number in range(options.rounds):
            run_round(server, history, chance, number, options.seconds)
            if sys.stderr.isatty():
                print(f"\r{number + 1} of {options.rounds} rounds", end="", file=sys.stderr, flush=True)
        address = server.start()
        verify(history, address)
        server.kill()
    except Lost as error:
        print(f"\ndata-rounds: round {number}: {error}", file=sys.stderr)
        print(f"data-rounds: the files are in {parent}", file=sys.stderr)
        status = 1
    except (OSError, subprocess.SubprocessError) as error:
        print(f"\ndata-rounds: {error}", file=sys.stderr)
        status = 2
    kind = "tmpfs" if is_mounted else "limit of files"
    print(
        f"data-rounds: {number + 1} rounds ({kind}): {history.acknowledged} writes acknowledged, {history.unknown} unknown, "
        f"{history.refused} refused, {len(history.seen)} revisions seen"
    )
    if status == 0 and options.rounds > 1 and not history.refused:
        print("data-rounds: no write was refused: the disk was never full", file=sys.stderr)
        status = 2
    if status != 1:
        if is_mounted:
            subprocess.run(["umount", str(folder)], check=False)
        shutil.rmtree(parent, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
