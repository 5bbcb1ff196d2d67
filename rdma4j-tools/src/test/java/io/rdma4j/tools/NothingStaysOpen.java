// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.lang.management.ManagementFactory;
import java.util.Set;

import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No device is open in this process after the tests of a class: commands have closed theirs, however they ended. A
 * process of their own would hide that.
 */
final class NothingStaysOpen implements AfterAllCallback {
    @Override
    public void afterAll(ExtensionContext context) throws MalformedObjectNameException {
        assertThat(open()).as("devices left open").isEmpty();
    }

    private static Set<ObjectName> open() throws MalformedObjectNameException {
        return ManagementFactory.getPlatformMBeanServer()
                .queryNames(new ObjectName("io.rdma4j:type=Device,*"), null);
    }

    /** Waits for that: sockets keep a device open for a moment. */
    static void await() throws MalformedObjectNameException {
        Wait.until("no device is open", () -> open().isEmpty());
    }
}
