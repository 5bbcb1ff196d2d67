// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Assumptions;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits for an address of loopback that other tests have for a while. Skips the test if another program keeps it, such as
 * a server of whoever builds.
 */
public final class OnceFree {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long REST_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private OnceFree() {}

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
