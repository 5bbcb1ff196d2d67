# SPDX-License-Identifier: Apache-2.0
"""A laboratory for the life of one program: claimed, made, and taken down at its end."""
import fcntl
import os
import subprocess
import sys

from . import guests, naming, network

# Held until the program ends.
_claims = []


def claim(part=None):
    """Keeps other programs from the laboratory, or from a part of it."""
    alone = open(f"/tmp/{naming.LABORATORY}{'-' + part if part else ''}.lock", "w")
    try:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise guests.LabError("another run is under way here; wait for its end, or name another laboratory in "
                              "RDMA4J_INTEROP_LAB")
    _claims.append(alone)


def is_inside():
    """Whether this is the run of the program in the laboratory's network."""
    return os.environ.get(network.IS_INSIDE) == network.NAMESPACE


def live(drivers, memory="2G"):
    """Boots the guests, runs this program again in their network, and shuts everything down. Returns the exit
    status."""
    guests.up(drivers, memory)
    try:
        environment = dict(os.environ, **{network.IS_INSIDE: network.NAMESPACE})
        with subprocess.Popen(network.inside([sys.executable, *sys.argv]), env=environment) as inside:
            try:
                return inside.wait()
            finally:
                inside.terminate()
    finally:
        guests.down()
