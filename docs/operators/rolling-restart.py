#!/usr/bin/env python3
"""A ring of Redis servers is restarted in four ways, under load.

    docs/operators/rolling-restart.py [--headway PATH] [--replicas N] [--down SECONDS]

Every key is on three neighbouring replicas of the ring, and a request for it needs
two of the three. The load asks for random keys all the time. Meanwhile all replicas
are restarted: all at once, with a semaphore of two slots, with a plain lock, and with
Headway (two tokens, three hops apart). The table says how many requests failed.

Needs redis-server (Debian: apt-get install redis-server) and a built headway. All
traffic stays on 127.0.0.1. Exit code 0 if Headway lost no request.
"""
import argparse, os, random, shutil, signal, socket, subprocess, sys, tempfile, threading, time

PORT = 17_600


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headway", default="target/release/headway")
    parser.add_argument("--replicas", type=int, default=9)
    parser.add_argument("--down", type=float, default=0.4, help="seconds a restart takes at least")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--port", type=int, default=PORT)
    return parser.parse_args()


class Replicas:
    """Redis servers on ports of their own."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.processes = [None] * options.replicas
        for at in range(options.replicas):
            self.start(at)

    def port(self, at):
        return self.options.port + at

    def start(self, at):
        folder = f"{self.folder}/redis-{at}"
        os.makedirs(folder, exist_ok=True)
        words = ["redis-server", "--port", str(self.port(at)), "--bind", "127.0.0.1"]
        words += ["--save", "", "--dir", folder, "--daemonize", "no", "--loglevel", "warning"]
        words += ["--pidfile", f"{folder}/pid", "--logfile", f"{folder}/log"]
        self.processes[at] = subprocess.Popen(words)
        while not ping(self.port(at)):
            # Somebody's connection may have the port for a moment.
            if self.processes[at].poll() is not None:
                self.processes[at] = subprocess.Popen(words)
            time.sleep(0.01)

    def restart(self, at):
        """Down, whatever there is to do, and up."""
        self.processes[at].terminate()
        self.processes[at].wait()
        time.sleep(self.options.down)
        self.start(at)

    def stop(self):
        for process in filter(None, self.processes):
            process.kill()
            process.wait()


def ping(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.5) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


class Load:
    """Clients that ask for random keys, each on three neighbouring replicas."""

    def __init__(self, replicas, clients):
        self.replicas, self.over = replicas, False
        self.asked, self.failed = [0] * clients, [0] * clients
        self.threads = [threading.Thread(target=self.client, args=(at,)) for at in range(clients)]
        for thread in self.threads:
            thread.start()

    def client(self, me):
        choose, count = random.Random(me), self.replicas.options.replicas
        while not self.over:
            first = choose.randrange(count)
            answers = sum(ping(self.replicas.port((first + far) % count)) for far in range(3))
            self.asked[me] += 1
            self.failed[me] += answers < 2

    def stop(self):
        self.over = True
        for thread in self.threads:
            thread.join()
        return sum(self.asked), sum(self.failed)


def at_once(replicas, slots):
    """Everybody restarts when a semaphore lets it; in a random order, as it comes."""
    semaphore = threading.Semaphore(slots)
    order = list(range(replicas.options.replicas))
    random.Random(2009).shuffle(order)

    def one(at):
        with semaphore:
            replicas.restart(at)

    threads = [threading.Thread(target=one, args=(at,)) for at in order]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Ring:
    """A Headway node beside every replica; its command restarts the replica."""

    def __init__(self, replicas, folder, headway):
        self.replicas, self.folder, self.headway = replicas, folder, headway
        count = replicas.options.replicas
        identity = [headway, "node", "identity"]
        self.keys = [subprocess.check_output([*identity, f"{folder}/identity-{at}"], text=True).strip() for at in range(count)]
        self.nodes = []
        for at in range(count):
            path = f"{folder}/node-{at}.toml"
            with open(path, "w") as file:
                file.write(self.config(at, count))
            log = open(f"{folder}/node-{at}.log", "w")
            self.nodes.append(subprocess.Popen([headway, "node", "--config", path], stderr=log))
        self.orders = threading.Thread(target=self.obey)
        self.over = False
        self.orders.start()
        while not all(self.settled(at) for at in range(count)):
            time.sleep(0.05)

    def config(self, at, count):
        members = "".join(f'[[ring.members]]\nname = "r{n}"\naddress = "127.0.0.1:{self.replicas.options.port + 100 + n}"\nkey = "{self.keys[n]}"\n' for n in range(count))
        # The command asks this script, which owns the servers, and waits until it is done.
        script = f"echo {at} > {self.folder}/orders; while [ ! -e {self.folder}/done-{at} ]; do sleep 0.02; done; rm {self.folder}/done-{at}"
        return f"""[node]
name = "r{at}"
listen = "127.0.0.1:{self.replicas.options.port + 100 + at}"
state_dir = "{self.folder}/state-{at}"
identity_file = "{self.folder}/identity-{at}"
[ring]
name = "redis"
tokens = 2
separation = 3
{members}[timing]
tick = "5ms"
refresh = "50ms"
heartbeat_timeout = "1s"
[command]
run = ["/bin/sh", "-c", "{script}"]
when = "requested"
[api]
socket = "{self.folder}/{at}.sock"
"""

    def obey(self):
        """Restarts what a command asks for."""
        os.mkfifo(f"{self.folder}/orders")
        pipe = os.open(f"{self.folder}/orders", os.O_RDWR)
        while True:
            for line in os.read(pipe, 4096).split():
                if line == b"over":
                    os.close(pipe)
                    return
                threading.Thread(target=self.one, args=(int(line),)).start()

    def one(self, at):
        self.replicas.restart(at)
        open(f"{self.folder}/done-{at}", "w").close()
        self.restarted.append(at)

    def call(self, at, *words):
        command = [self.headway, "node", *words, "--socket", f"{self.folder}/{at}.sock"]
        return subprocess.run(command, capture_output=True).returncode

    def settled(self, at):
        return self.call(at, "status") == 0

    def restart_all(self):
        self.restarted = []
        count = self.replicas.options.replicas
        for at in range(count):
            assert self.call(at, "ask") == 0
        while len(self.restarted) < count:
            time.sleep(0.01)

    def stop(self):
        for node in self.nodes:
            node.send_signal(signal.SIGTERM)
        for node in self.nodes:
            node.wait()
        with open(f"{self.folder}/orders", "w") as pipe:
            pipe.write("over\n")
        self.orders.join()


def main():
    options = arguments()
    if not shutil.which("redis-server"):
        sys.exit("error: there is no redis-server (Debian: apt-get install redis-server)")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        replicas = Replicas(options, folder)
        ring = None
        try:
            ring = Ring(replicas, folder, options.headway)
            ways = [
                ("no coordination", lambda: at_once(replicas, options.replicas)),
                ("semaphore of 2", lambda: at_once(replicas, 2)),
                ("plain lock", lambda: at_once(replicas, 1)),
                ("Headway, 2 tokens 3 apart", ring.restart_all),
            ]
            for name, way in ways:
                load = Load(replicas, options.clients)
                began = time.monotonic()
                way()
                took = time.monotonic() - began
                asked, failed = load.stop()
                rows.append((name, took, asked, failed))
                print(f"{name}: {took:.1f} s, {failed} of {asked} failed", file=sys.stderr)
        finally:
            if ring:
                ring.stop()
            replicas.stop()
    print(f"| {options.replicas} replicas restarted with | time | requests | failed |\n|---|---|---|---|")
    for name, took, asked, failed in rows:
        print(f"| {name} | {took:.1f} s | {asked} | {failed} ({100 * failed / max(asked, 1):.1f}%) |")
    failed = {name: failed for name, _, _, failed in rows}
    # The load has to be able to notice: without coordination it does.
    if failed["no coordination"] == 0:
        sys.exit("error: the load noticed nothing at all; is it running?")
    sys.exit(failed["Headway, 2 tokens 3 apart"] != 0)


main()
