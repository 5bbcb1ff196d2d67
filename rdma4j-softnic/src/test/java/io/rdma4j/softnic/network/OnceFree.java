// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Assumptions;

import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits for an address of loopback that other tests have for a while. Skips the test if another program keeps it, such as
 * a server of whoever builds.
 */
public final class OnceFree {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long REST_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private OnceFree() {}

    /** Waits until no process has the port of RoCE at an address, not even one that shares it with those of its kind. */
    public static void await(String address) throws IOException {
        take(address, () -> {
            try (DatagramSocket probe = new DatagramSocket(null)) {
                return isBound(probe, address);
            }
        });
    }

    /** {@return whether a socket could be bound to the port of RoCE at an address} */
    public static boolean isBound(DatagramSocket socket, String address) throws SocketException {
        try {
            socket.bind(new InetSocketAddress(InetAddress.ofLiteral(address), 4791));
            return true;
        } catch (BindException taken) {
            return false;
        }
    }

    /** @param taking takes the address, and returns whether it could be taken */
    public static <E extends Exception> void take(String address, Wait.Condition<E> taking)
            throws E {
        long startNs = System.nanoTime();
        while (!taking.holds()) {
            Assumptions.assumeTrue(System.nanoTime() - startNs < PATIENCE_NS,
                    () -> "another program keeps UDP port 4791 of " + address);
            LockSupport.parkNanos(REST_NS);
        }
    }
}
