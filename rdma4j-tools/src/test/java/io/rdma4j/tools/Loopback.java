// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

/** Loopback addresses and a port that no other build on this machine takes, made from the process id. */
final class Loopback {
    /** The last numbers of own addresses end at 128. */
    private static final int SECOND = 126;

    private static final long PID = ProcessHandle.current().pid();
    private static final String NETWORK = "127." + (1 + (PID >>> 14 & 0x7f)) + "."
            + (PID >>> 7 & 0x7f) + ".";

    /** This process's. */
    static final String OWN = NETWORK + (1 + (PID & 0x7f));
    /** For a second side that needs one. */
    static final String OTHER = NETWORK + (1 + (PID & 0x7f) + SECOND);
    /** For a service: a port belongs to one process of a user, whatever the address. The next one is this process's, too. */
    static final int PORT = 10_000 + 2 * (int) (PID % 10_000);

    private Loopback() {}
}
