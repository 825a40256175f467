#!/usr/bin/env python3
"""A bad network: a switch in user space, between the hosts of a test.

    switch.py SEED PORT...

Ports are interfaces of the namespace that it runs in; the host behind the n-th port
has the hardware address 02:00:00:00:00:n. Commands come in on standard input, one a
line, and are answered with `ok`:

    loss P            every frame is lost with this probability
    delay LEAST MOST  every frame is late by so many milliseconds, so that some overtake
    duplicate P       every frame is sent twice with this probability
    cut N             nothing to or from the n-th host
    apart M N         nothing from the m-th host to the n-th or back
    mute N            nothing from the n-th host; what is sent to it arrives
    heal              all of that is over
"""
import heapq, random, select, socket, struct, sys, time

random.seed(int(sys.argv[1]))
ports = []
for name in sys.argv[2:]:
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    port.bind((name, 0))
    port.setblocking(False)
    ports.append(port)
place = {port.fileno(): at for at, port in enumerate(ports)}
loss, least, most, duplicate = 0.0, 0.0, 0.0, 0.0
cut, mute, apart = set(), set(), set()
late, count = [], 0


def command(words):
    global loss, least, most, duplicate
    if words[0] == "loss":
        loss = float(words[1])
    elif words[0] == "delay":
        least, most = float(words[1]) / 1e3, float(words[2]) / 1e3
    elif words[0] == "duplicate":
        duplicate = float(words[1])
    elif words[0] == "cut":
        cut.add(int(words[1]) - 1)
    elif words[0] == "apart":
        one, other = int(words[1]) - 1, int(words[2]) - 1
        apart.update([(one, other), (other, one)])
    elif words[0] == "mute":
        mute.add(int(words[1]) - 1)
    elif words[0] == "heal":
        loss = least = most = duplicate = 0.0
        cut.clear()
        mute.clear()
        apart.clear()
    print("ok", flush=True)


def whole(frame):
    """A frame whose checksum was left to the hardware, which there is none of. With
    UDP, 0 means that there is no checksum; with TCP, there has to be one."""
    if frame[12:14] != b"\x08\x00":
        return frame
    start = 14 + (frame[14] & 15) * 4
    if frame[23] == 17:
        frame = frame[: start + 6] + b"\0\0" + frame[start + 8 :]
    elif frame[23] == 6:
        end = 14 + int.from_bytes(frame[16:18], "big")
        segment = frame[start : start + 16] + b"\0\0" + frame[start + 18 : end]
        text = frame[26:34] + struct.pack("!HH", 6, len(segment)) + segment
        text += b"\0" * (len(text) % 2)
        total = sum(struct.unpack(f"!{len(text) // 2}H", text))
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        frame = frame[: start + 16] + struct.pack("!H", total ^ 0xFFFF) + frame[start + 18 :]
    return frame


def send(to, frame):
    try:
        ports[to].send(frame)
    except OSError:
        pass  # a full queue, or a port that is down: lost


def forward(come, frame):
    global count
    if come in cut or come in mute:
        return
    last = frame[5] - 1
    known = frame[:5] == b"\x02\0\0\0\0" and 0 <= last < len(ports)
    for to in [last] if known else range(len(ports)):
        if to == come or to in cut or (come, to) in apart:
            continue
        for _ in range(2 if random.random() < duplicate else 1):
            if random.random() < loss:
                continue
            if most > 0:
                count += 1
                due = time.monotonic() + random.uniform(least, most)
                heapq.heappush(late, (due, count, to, frame))
            else:
                send(to, frame)


print("ok", flush=True)
while True:
    wait = max(0, late[0][0] - time.monotonic()) if late else None
    ready, _, _ = select.select(ports + [sys.stdin], [], [], wait)
    for one in ready:
        if one is sys.stdin:
            line = sys.stdin.readline()
            if not line:
                sys.exit(0)
            command(line.split())
            continue
        for _ in range(64):
            try:
                frame, source = one.recvfrom(4096)
            except OSError:
                break
            if source[2] != socket.PACKET_OUTGOING:
                forward(place[one.fileno()], whole(frame))
    while late and late[0][0] <= time.monotonic():
        _, _, to, frame = heapq.heappop(late)
        send(to, frame)
