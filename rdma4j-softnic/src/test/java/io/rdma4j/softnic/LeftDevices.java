// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Fails a class of tests that leaves a device open, for whatever reason: the addresses that it keeps are missed by tests of other
 * processes, for as long as this one runs others.
 */
public final class LeftDevices implements AfterAllCallback {
    /** The devices that this process has open. */
    private static final String PROPERTY = "rdma4j.devices";
    /** Threads of the library may still be closing one. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    @Override
    public void afterAll(ExtensionContext context) {
        if (context.getParent().flatMap(ExtensionContext::getTestClass).isPresent()) {
            // The class around it has more tests.
            return;
        }
        long endNs = System.nanoTime() + PATIENCE_NS;
        while (!open().isEmpty() && System.nanoTime() - endNs < 0) {
            LockSupport.parkNanos(1_000_000);
        }
        assertThat(open()).as("what tests have left open").isEmpty();
    }

    private static String open() {
        return System.getProperty(PROPERTY, "");
    }
}
