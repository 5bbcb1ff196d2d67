# SPDX-License-Identifier: Apache-2.0
"""Which laboratory a program has. Asked before the rest of this package is imported, which reads the choice."""
import os

# A different name separates two runs on one machine.
LABORATORY = os.environ.get("RDMA4J_INTEROP_LAB", "rdma4j-interop")


def choose(part):
    """Gives this program its own part of the laboratory, apart from others and from one used by hand."""
    os.environ["LAB_NS"] = f"{LABORATORY}-{part}"
