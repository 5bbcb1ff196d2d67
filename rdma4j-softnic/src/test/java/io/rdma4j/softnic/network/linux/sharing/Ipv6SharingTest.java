// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.OnceFree;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Addresses of IPv6 are shared as those of IPv4 are. A machine has few of them, so they are shared with whatever else runs
 * there, by the table that it uses.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(90)
class Ipv6SharingTest extends SharingStage {
    private void join(InetAddress address, int scope) throws Exception {
        String shared = TableSocket.nameOfUser();
        OnceFree.take(address.getHostAddress(), () -> {
            try {
                whileAllReceive(() -> new Member(shared, address, scope));
                return true;
            } catch (RdmaException taken) {
                assertThat(taken.errno()).isEqualTo(Errno.EADDRINUSE);
                return false;
            }
        });
    }

    private void assertShared(InetAddress address, int scope) throws Exception {
        for (int i = 0; i < 4; i++) {
            join(address, scope);
            assertEachGetsItsOwn();
        }
        members.get(1).leave();
        assertEachGetsItsOwn();
        members.get(0).die();
        Member mending = members.get(0);
        // Others on this machine may have found it as well.
        whileAllReceive(() -> mending.port.mend(false));
        assertEachGetsItsOwn();
    }

    @Test
    void thatOfLoopback() throws Exception {
        InetAddress address = InetAddress.ofLiteral("::1");
        assumeThat(NetworkInterface.getByInetAddress(address)).isNotNull();
        assertShared(address, 0);
    }

    @Test
    void thatOfALink() throws Exception {
        Optional<Inet6Address> address = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(InetAddress::isLinkLocalAddress).filter(Inet6Address.class::isInstance)
                .map(Inet6Address.class::cast).findFirst();
        assumeThat(address).isPresent();
        assertShared(address.orElseThrow(), address.orElseThrow().getScopeId());
    }
}
