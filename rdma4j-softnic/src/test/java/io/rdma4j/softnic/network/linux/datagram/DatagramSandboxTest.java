// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.softnic.network.linux.calls.LinuxAccess;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Whether a refused call for datagrams is noticed before a device is opened. */
class DatagramSandboxTest {
    @Test
    void whereNoCallIsRefusedNoneIsTakenForRefused() {
        assumeThat(LinuxAccess.obstacle()).isNull();
        assertThat(DatagramSandbox.refusal()).isNull();
    }
}
