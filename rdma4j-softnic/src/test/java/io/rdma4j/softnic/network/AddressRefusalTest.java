// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.softnic.network.stream.HeldPort;
import io.rdma4j.verbs.Errno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class AddressRefusalTest {
    private static final InetAddress OURS = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress FOREIGN = InetAddress.ofLiteral("192.0.2.77");

    @ParameterizedTest
    @CsvSource({"Cannot assign requested address, EADDRNOTAVAIL",
        "Address already in use, EADDRINUSE", "Permission denied, EACCES"})
    void theSystemsWordsDecide(String words, Errno errno) {
        assertThat(AddressRefusal.ofBinding(OURS, new BindException(words)).errno())
                .isEqualTo(errno);
    }

    @Test
    void inAnotherLanguageItIsDecidedByWhoseTheAddressIs() {
        assertThat(AddressRefusal.ofBinding(FOREIGN, new BindException(
                "Die angeforderte Adresse kann nicht zugewiesen werden")))
                .hasMessage("open device: 192.0.2.77 is not an address of this machine"
                        + " (EADDRNOTAVAIL)");
        assertThat(AddressRefusal.ofBinding(OURS,
                new BindException("Die Adresse wird bereits verwendet")))
                .hasMessage("open device: UDP port 4791 of 127.0.0.1 is taken (EADDRINUSE)");
    }

    @Test
    void otherErrorsAreToldAsTheyAre() {
        assertThat(AddressRefusal.ofBinding(OURS, new SocketException("Too many open files")))
                .hasMessage("open device: UDP port 4791 of 127.0.0.1: Too many open files"
                        + " (EMFILE)");
        assertThat(AddressRefusal.ofBinding(OURS, new SocketException("Zu viele offene Dateien")))
                .hasMessage("open device: UDP port 4791 of 127.0.0.1: Zu viele offene Dateien");
    }

    /** Whatever the system would say: the JDK does not ask it. */
    @Test
    void loopbackAddressThatTheJdkRefusesIsNamed() throws Exception {
        InetAddress refused = InetAddress.ofLiteral("127.0.0.255");
        String reason = "Java binds no socket to 127.0.0.255; take a loopback address that does not"
                + " end in 255 (EADDRNOTAVAIL)";
        assertThatThrownBy(() -> HeldPort.at(new InetSocketAddress(refused, 0)))
                .hasMessage("bind address: " + reason);
        PortableNetwork network = new PortableNetwork(NetworkContract.loopback());
        try {
            assertThatThrownBy(() -> network.open(refused)).hasMessage("open device: " + reason);
        } finally {
            network.close();
        }
    }
}
