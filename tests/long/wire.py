"""A line between two network namespaces that can be slow, lossy or cut: two TUN devices and a thread that carries packets.

The kernel's own netem would do the same; many kernels of containers and virtual machines come without it."""

import fcntl
import heapq
import itertools
import os
import random
import select
import struct
import threading
import time

from tests.long.scene import checked

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
names = itertools.count()


def device(holder, own, peer):
    """A TUN device in the network namespace of the process `holder`, with its address; the file of its packets."""
    name = f"strop{os.getpid() % 100000}x{next(names)}"
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    checked("ip", "link", "set", name, "netns", holder)
    inside = ["nsenter", "-t", holder, "-n", "ip"]
    checked(*inside, "address", "add", own, "peer", peer, "dev", name)
    checked(*inside, "link", "set", name, "up")
    return file, name


class Wire:
    def __init__(self, scene, near, far, addresses, seed=1):
        self.delay = self.loss = 0.0    # seconds there, and as much back; a share of the packets
        self.carried = self.lost = 0
        self.far = far
        self.random, self.ending = random.Random(seed), False
        self.ends = []
        for holder, (own, peer) in ((near, addresses), (far, addresses[::-1])):
            file, self.far_name = device(holder, own, peer)
            self.ends.append(file)
            scene.callback(os.close, file)
        self.thread = threading.Thread(target=self.carry, daemon=True)
        self.thread.start()
        scene.callback(self.close)

    def close(self):
        self.ending = True
        self.thread.join()

    def heal(self):
        self.delay = self.loss = 0.0
        self.plug("up")

    def cut(self):
        self.plug("down")

    def plug(self, state):
        checked("nsenter", "-t", self.far, "-n", "ip", "link", "set", self.far_name, state)

    def carry(self):
        other = dict(zip(self.ends, self.ends[::-1]))
        order, under_way = itertools.count(), []
        while not self.ending:
            wait = min(0.2, max(0.0, under_way[0][0] - time.monotonic())) if under_way else 0.2
            readable, _, _ = select.select(self.ends, [], [], wait)
            for end in readable:
                try:
                    packet = os.read(end, 65536)
                except OSError:      # the device is down
                    time.sleep(0.01)
                    continue
                if self.random.random() < self.loss:
                    self.lost += 1
                    continue
                heapq.heappush(under_way, (time.monotonic() + self.delay, next(order), other[end], packet))
            while under_way and under_way[0][0] <= time.monotonic():
                _, _, end, packet = heapq.heappop(under_way)
                try:
                    os.write(end, packet)
                    self.carried += 1
                except OSError:      # the other side is down: it is gone
                    self.lost += 1
