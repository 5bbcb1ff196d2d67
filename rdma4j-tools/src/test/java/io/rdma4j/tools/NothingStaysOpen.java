// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.lang.management.ManagementFactory;

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
        assertThat(ManagementFactory.getPlatformMBeanServer()
                .queryNames(new ObjectName("io.rdma4j:type=Device,*"), null))
                .as("devices left open").isEmpty();
    }
}
