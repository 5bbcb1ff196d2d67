// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.device.PortView;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/** Servers that run until they are stopped: the loss of their address does not end them, that of their device does. */
@ExtendWith(NothingStaysOpen.class)
@Timeout(60)
class LostDeviceToolsTest {
    @ParameterizedTest
    @CsvSource({"server -a ADDR -p 0, client ADDR PORT",
        "cmtime -b ADDR -p 0, cmtime -c 1 -s ADDR -p PORT",
        "rping -s -P -v -a ADDR -p 0, rping -c -C 2 -a ADDR -p PORT"})
    void serverGoesOnWithoutItsAddressForAMomentAndEndsWithItsDevice(String serving,
            String asking) throws Exception {
        try (Running server = Command.start(serving.replace("ADDR", Loopback.OWN))) {
            String port = server.port();
            withDevice(nic -> {
                nic.onPort(new PortView(true, true, List.of()));
                nic.lookAtPort();
            });
            // Of loopback, a device takes an address back when an id needs it.
            withDevice(nic -> {});
            try (Running client = Command
                    .start(asking.replace("ADDR", Loopback.OWN).replace("PORT", port))) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
            }
            withDevice(nic -> nic.onPort(new PortView(false, false, List.of())));
            server.assertFails(1, "the device is gone");
        }
    }

    private static void withDevice(Consumer<SoftNic> change) throws Exception {
        try (CmId beside = CmId.create(PortSpace.TCP)) {
            beside.bindAddress(new InetSocketAddress(Loopback.OWN, 0));
            change.accept((SoftNic) ((SoftDeviceContext) beside.context()).nic());
        }
    }
}
