# SPDX-License-Identifier: Apache-2.0
"""The network: a namespace with one bridge, this machine's addresses on it, and a tap device for each guest.
"""
import os
import subprocess
import sys

NAMESPACE = os.environ.get("LAB_NS", "rdmalab")
BRIDGE = "br0"
NET4 = "10.77.0"
NET6 = "fd77::"
MTU = 4200
# More packets than the largest message of the tests has: none is lost in front of a guest.
QUEUE_LENGTH = 10_000
HOST4 = f"{NET4}.1"
HOST6 = f"{NET6}1"
IS_INSIDE = "LAB_INSIDE"


def guest4(number):
    return f"{NET4}.{10 + number}"


def guest6(number):
    return f"{NET6}{10 + number}"


def inside(command):
    """The command, to be run in the namespace."""
    return ["ip", "netns", "exec", NAMESPACE, *command]


def enter():
    """Continues this program inside the namespace, if it is not yet there."""
    if os.environ.get(IS_INSIDE) != NAMESPACE:
        sys.stdout.flush()
        os.environ[IS_INSIDE] = NAMESPACE
        os.execvp("ip", inside([sys.executable, *sys.argv]))


def create(guests):
    shell(f"ip netns add {NAMESPACE}")
    within(f"""
        ip link set lo up
        ip link add {BRIDGE} type bridge mcast_snooping 0
        ip link set {BRIDGE} mtu {MTU}
        ip addr add {HOST4}/24 dev {BRIDGE}
        ip -6 addr add {HOST6}/64 dev {BRIDGE} nodad
        ip link set {BRIDGE} up
        ip route add 239.0.0.0/8 dev {BRIDGE}""")
    for number in range(1, guests + 1):
        within(f"""
            ip tuntap add dev tap{number} mode tap
            ip link set tap{number} mtu {MTU} txqueuelen {QUEUE_LENGTH}
            ip link set tap{number} master {BRIDGE} up""")


def restore_bridge():
    """Brings the bridge up again, with the addresses and routes lost while it was down. For callers inside the
    namespace."""
    shell(f"""
        ip link set {BRIDGE} up
        ip -6 addr replace {HOST6}/64 dev {BRIDGE} nodad
        ip route replace 239.0.0.0/8 dev {BRIDGE}""")


def set_mtu(mtu, guests):
    """The link's MTU on this side."""
    for number in range(1, guests + 1):
        within(f"ip link set tap{number} mtu {mtu}")
    within(f"ip link set {BRIDGE} mtu {mtu}")


def delete():
    subprocess.run(["ip", "netns", "del", NAMESPACE], stderr=subprocess.DEVNULL)


def exists():
    return os.path.exists(f"/run/netns/{NAMESPACE}")


def shell(command):
    subprocess.run(["sh", "-ec", command], check=True)


def within(command):
    subprocess.run(inside(["sh", "-ec", command]), check=True)
