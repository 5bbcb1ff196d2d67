# SPDX-License-Identifier: Apache-2.0
"""Hosts, bridges and routers as network namespaces, with cables between them.

All names begin with that of this run, which has its process id in it: two runs on one machine do not meet, and what a
killed run has left is known and removed by the next.
"""
import itertools
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

PREFIX = "rdma4j-"
RUN = f"{PREFIX}{os.getpid()}"
NAMES = Path("/etc/netns")
# Where a run has its own copy of the tools.
FOLDERS = Path("/tmp")
COMMAND_SECONDS = 30
# A state of TCP, in the kernel's tables.
LISTENING = "0A"
NET4, NET6 = "10.88", "fd88"


class NetworkError(Exception):
    """A command of the suite's own that prepares a network has failed."""


def command(*words):
    """Runs a command that must succeed; its output."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_SECONDS, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise NetworkError(f"{' '.join(words)}: not done after {COMMAND_SECONDS} s")
    if done.returncode != 0:
        raise NetworkError(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


class Host:
    """A machine: a network namespace with loopback. Its interfaces try no IPv6 address out, unless told to."""

    def __init__(self, name, title):
        self.name = name
        self.title = title
        command("ip", "netns", "add", name)
        self.sh("""
            sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
            sysctl -qw net.ipv4.ping_group_range='0 2147483647'
            ip link set lo up""")

    def ip(self, *lines):
        """Commands of ip(8), each as one line."""
        for line in lines:
            command("ip", "-n", self.name, *line.split())

    def sh(self, script):
        """A shell script that must succeed; its output."""
        return command("ip", "netns", "exec", self.name, "sh", "-ec", script)

    def nft(self, rules):
        self.sh(f"nft '{rules}'")

    def drop(self, hook, rule):
        """Has the firewall drop what a rule says, coming in (input), going out (output) or on the way (forward)."""
        self.nft(f"add table inet rdma4j; add chain inet rdma4j {hook} {{ type filter hook {hook} priority 0; }}; "
                 f"add rule inet rdma4j {hook} {rule} drop")

    def drop_nothing(self):
        self.nft("delete table inet rdma4j")

    def up(self, interface, *addresses, mtu=None):
        """Sets an interface up, with addresses."""
        if mtu:
            self.ip(f"link set {interface} mtu {mtu}")
        self.ip(f"link set {interface} up")
        for address in addresses:
            self.ip(f"addr add {address} dev {interface}")

    def link_local(self, interface, seconds=5):
        """The link-local address of an interface, without its scope; waits until it is there."""
        until = time.monotonic() + seconds
        while True:
            found = re.search(r"inet6 (fe80:\S+)/", self.sh(f"ip -6 -o addr show dev {interface} scope link -tentative"))
            if found:
                return found[1]
            if time.monotonic() > until:
                raise NetworkError(f"{interface} of {self.title} has no link-local address")
            time.sleep(0.05)

    def await_usable(self, address, seconds=20):
        """Waits until an address is there and no longer tried out. The time at which it was seen so."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            shown = self.sh("ip -o addr show -tentative")
            if f" {address}/" in shown:
                return time.monotonic()
            time.sleep(0.02)
        raise NetworkError(f"{address} of {self.title} was not usable within {seconds} s")

    def address_of_card(self, interface):
        return self.sh(f"cat /sys/class/net/{interface}/address").strip()

    def bytes_sent(self, interface):
        return int(self.sh(f"cat /sys/class/net/{interface}/statistics/tx_bytes"))

    def listens_at(self, port):
        """Whether a TCP port has a listener."""
        lines = [line.split() for line in self.sh("cat /proc/net/tcp /proc/net/tcp6").splitlines()]
        return any(fields[3] == LISTENING and fields[1].endswith(f":{port:04X}") for fields in lines)

    def knows(self, names):
        """Its file of host names."""
        folder = NAMES / self.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n"
                                      + "".join(f"{address} {name}\n" for name, address in names.items()))

    def processes(self):
        try:
            return [int(word) for word in command("ip", "netns", "pids", self.name).split()]
        except NetworkError:
            return []


class Topology:
    """The hosts of one check. Closing it ends all their processes and removes them."""

    _numbers = itertools.count(1)
    # Once the run ends, what is still under way gets no new host.
    _making = threading.Lock()
    _is_over = False

    def __init__(self):
        self._number = next(self._numbers)
        self._hosts = []

    def host(self, title):
        with self._making:
            if Topology._is_over:
                raise NetworkError("the run has ended")
            host = Host(f"{RUN}-{self._number}{title}", title)
        self._hosts.append(host)
        return host

    @staticmethod
    def is_over():
        return Topology._is_over

    @staticmethod
    def end_all():
        """Removes the hosts of all checks, whose threads may be under way."""
        with Topology._making:
            Topology._is_over = True
        remove_all(f"{RUN}-")

    def router(self, title="r"):
        """A host that forwards."""
        router = self.host(title)
        router.sh("sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1")
        return router

    def bridge(self, title="s"):
        """A switch, as a namespace of its own."""
        switch = self.host(title)
        switch.ip("link add br0 type bridge forward_delay 0", "link set br0 up")
        return switch

    @staticmethod
    def cable(one, its, other, others):
        """An Ethernet cable between an interface of one host and one of another; both are down."""
        command("ip", "link", "add", its, "netns", one.name, "type", "veth", "peer", "name", others, "netns", other.name)

    def plug(self, host, interface, switch, mtu=None):
        """A cable from a host to a switch."""
        port = f"{host.title}-{interface}"
        self.cable(host, interface, switch, port)
        if mtu:
            switch.ip(f"link set {port} mtu {mtu}")
        switch.ip(f"link set {port} master br0 up")
        return port

    def pair(self, mtu=None):
        """Hosts a and b, 10.88.0.1 and .2, fd88::1 and ::2, joined by a cable."""
        one, other = self.host("a"), self.host("b")
        self.cable(one, "eth0", other, "eth0")
        one.up("eth0", f"{NET4}.0.1/24", f"{NET6}::1/64", mtu=mtu)
        other.up("eth0", f"{NET4}.0.2/24", f"{NET6}::2/64", mtu=mtu)
        for host in (one, other):
            host.link_local("eth0")
        return one, other

    def routed(self, mtu=None, hop_mtu=None):
        """Hosts a and b with a router between them: 10.88.1.1 and 10.88.2.1; behind it the cable may have another MTU."""
        one, router, other = self.host("a"), self.router(), self.host("b")
        self.cable(one, "eth0", router, "eth0")
        self.cable(router, "eth1", other, "eth0")
        one.up("eth0", f"{NET4}.1.1/24", f"{NET6}:1::1/64", mtu=mtu)
        router.up("eth0", f"{NET4}.1.254/24", f"{NET6}:1::fe/64", mtu=mtu)
        router.up("eth1", f"{NET4}.2.254/24", f"{NET6}:2::fe/64", mtu=hop_mtu or mtu)
        other.up("eth0", f"{NET4}.2.1/24", f"{NET6}:2::1/64", mtu=mtu)
        one.ip(f"route add default via {NET4}.1.254", f"-6 route add default via {NET6}:1::fe")
        other.ip(f"route add default via {NET4}.2.254", f"-6 route add default via {NET6}:2::fe")
        return one, router, other

    def close(self):
        for host in self._hosts:
            remove(host.name)
        self._hosts.clear()


def remove(name):
    """Ends the processes of a namespace and deletes it."""
    shown = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
    for word in shown.stdout.split():
        try:
            os.kill(int(word), signal.SIGKILL)
        except ProcessLookupError:
            pass
    subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)
    folder = NAMES / name
    (folder / "hosts").unlink(missing_ok=True)
    if folder.is_dir():
        folder.rmdir()


def remove_all(prefix):
    for name in existing():
        if name.startswith(prefix):
            remove(name)


def remove_orphans():
    """What runs have left that were killed: namespaces, and folders."""
    def is_orphan(name):
        owner = re.match(rf"{PREFIX}(\d+)-\w+$", name)
        return owner and not Path(f"/proc/{owner[1]}").exists()
    for name in existing():
        if is_orphan(name):
            remove(name)
    for folder in FOLDERS.iterdir():
        if is_orphan(folder.name) and folder.is_dir():
            shutil.rmtree(folder, ignore_errors=True)


def existing():
    folder = Path("/run/netns")
    return sorted(file.name for file in folder.iterdir()) if folder.exists() else []
