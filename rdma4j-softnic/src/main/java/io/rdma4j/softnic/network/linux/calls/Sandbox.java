// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;

/**
 * Finds out which of the system calls that are needed are refused, by a sandbox or a kernel that lacks them. Each is made once
 * in a way in which it has no effect: where it is let through, it fails for another reason. A call that a device finds refused
 * only in use would leave it silent.
 */
public final class Sandbox {
    private Sandbox() {}

    /**
     * {@return the first call that is refused of those for waiting, with the system's error; null if none is}
     *
     * @throws LinuxSocket.Refused if there is nothing to wait with
     */
    public static @Nullable String refusalOfWaiting(Arena arena) throws LinuxSocket.Refused {
        SocketPoller poller = new SocketPoller(arena);
        try {
            LinuxSocket socket = LinuxSocket.open(SocketAddress.AF_INET, arena);
            try {
                poller.watch(socket.descriptor());
            } finally {
                socket.close();
            }
            return poller.refusal();
        } finally {
            poller.close();
        }
    }
}
