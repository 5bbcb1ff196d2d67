# SPDX-License-Identifier: Apache-2.0
"""Packets of the bridge, written to a file."""
import os
import signal
import subprocess

from . import agent, network

FILTER = f"(udp port 4791 or tcp) and not tcp port {agent.PORT}"


class Capture:
    """Captures while it is open. For callers inside the namespace."""

    def __init__(self, file):
        self.file = file
        # The number of missed packets, known after closing.
        self.dropped = 0

    def __enter__(self):
        self._tcpdump = subprocess.Popen(
            ["tcpdump", "-i", network.BRIDGE, "--immediate-mode", "-B", "65536", "-s", "0", "-w", str(self.file),
             FILTER], stderr=subprocess.PIPE, text=True)
        # tcpdump reports when it listens.
        line = self._tcpdump.stderr.readline()
        if "listening on" not in line:
            self._tcpdump.wait()
            raise OSError(f"tcpdump: {line.strip()}")
        return self

    def __exit__(self, *_):
        self._tcpdump.send_signal(signal.SIGINT)
        _, said = self._tcpdump.communicate()
        self.dropped = next((int(line.split()[0]) for line in said.splitlines() if "dropped by kernel" in line), 0)
        os.chmod(self.file, 0o644)
