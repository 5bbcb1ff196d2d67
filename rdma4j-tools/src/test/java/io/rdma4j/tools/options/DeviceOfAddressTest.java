// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import io.rdma4j.testkit.ListedDevice;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.TransportType;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** In which order devices are looked at for an address. */
class DeviceOfAddressTest {
    private static final RdmaDevice RXE = new ListedDevice("rxe0", DeviceKind.NATIVE,
            TransportType.INFINIBAND);
    private static final RdmaDevice SIW = new ListedDevice("siw0", DeviceKind.NATIVE,
            TransportType.IWARP);
    private static final RdmaDevice ETH0 = soft("roce_eth0");
    private static final RdmaDevice ETH1 = soft("roce_eth1");
    private static final RdmaDevice LO = soft("roce_lo");
    private static final List<RdmaDevice> ALL = List.of(RXE, SIW, ETH0, ETH1, LO,
            new ListedDevice("iwarp_eth1", DeviceKind.SOFTWARE, TransportType.IWARP));

    private static RdmaDevice soft(String name) {
        return new ListedDevice(name, DeviceKind.SOFTWARE, TransportType.INFINIBAND);
    }

    @Test
    void nativeDevicesComeFirstAndThenTheSoftwareDeviceOfTheInterface() {
        assertThat(DeviceOfAddress.likelyFirst(ALL, "eth1")).containsExactly(RXE, ETH1, ETH0, LO);
    }

    /** An interface that has gone meanwhile, or whose name the system does not tell. */
    @Test
    void orderOfTheDevicesHoldsForAnUnknownInterface() {
        assertThat(DeviceOfAddress.likelyFirst(ALL, null)).containsExactly(RXE, ETH0, ETH1, LO);
    }
}
