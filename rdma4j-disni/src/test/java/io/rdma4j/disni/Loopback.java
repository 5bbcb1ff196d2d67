// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

/** A loopback address and a port that no other build on this machine takes, made from the process id. */
final class Loopback {
    private static final long PID = ProcessHandle.current().pid();

    static final String OWN = "127." + (1 + (PID >>> 14 & 0x7f)) + "." + (PID >>> 7 & 0x7f) + "."
            + (1 + (PID & 0x7f));
    /** For a service: a port belongs to one process of a user, whatever the address. */
    static final int PORT = 10_000 + 2 * (int) (PID % 10_000);

    private Loopback() {}
}
