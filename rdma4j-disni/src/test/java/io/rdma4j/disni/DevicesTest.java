// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaDevices;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DevicesTest {
    private final Handles handles = new Handles();
    private final Devices devices = new Devices(handles);

    private static DeviceContext open() throws Exception {
        return RdmaDevices.find("roce_lo").open();
    }

    /** DiSNI keeps domains by this number: it would take one of the device that has gone for the one that is there again. */
    @Test
    void deviceThatIsOpenByAnotherContextHasAnotherNumber() throws Exception {
        try (DeviceContext gone = open(); DeviceContext again = open()) {
            long first = devices.handleOf(gone);
            long second = devices.handleOf(again);
            assertThat(second).isNotEqualTo(first);
            assertThat(devices.number(again)).isNotNegative().isNotEqualTo(devices.number(gone));
            // Ids of the one that has gone may still be there.
            assertThat(devices.handleOf(gone)).isEqualTo(first);
            assertThat(devices.handleOf(again)).isEqualTo(second);
            assertThat(handles.find(first, DeviceContext.class, "device")).isSameAs(gone);
        }
    }

    @Test
    void contextThatIsClosedIsNotKept() throws Exception {
        DeviceContext closed = open();
        long handle = devices.handleOf(closed);
        int number = devices.number(closed);
        closed.close();
        try (DeviceContext next = open()) {
            devices.handleOf(next);
            assertThat(devices.number(next)).isNotEqualTo(number);
            assertThatExceptionOfType(RdmaClosedException.class)
                    .isThrownBy(() -> handles.find(handle, DeviceContext.class, "device"));
        }
    }
}
