// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.route;

import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

class WaysTest {
    private static final Gid NEAR = Gid.of(InetAddress.ofLiteral("192.0.2.1"));
    private static final Gid FAR = Gid.of(InetAddress.ofLiteral("2001:db8::1"));

    private final Map<Gid, Integer> system = new HashMap<>();
    private final List<Gid> asked = new ArrayList<>();
    private final Ways ways = new Ways(destination -> {
        asked.add(destination);
        return system.getOrDefault(destination, 0);
    });

    @Test
    void systemIsAskedOnlyByTheFirstPacketToADestination() {
        system.put(FAR, 3);
        for (int i = 0; i < 5; i++) {
            assertThat(ways.to(NEAR).use()).isZero();
            assertThat(ways.to(FAR).use()).isEqualTo(3);
        }
        assertThat(asked).containsExactly(NEAR, FAR);
    }

    @Test
    void routesThatAreUsedAreLookedAtAgain() {
        ways.to(NEAR).use();
        ways.to(FAR).use();
        ways.lookAgain();
        asked.clear();
        system.put(NEAR, 4);
        ways.to(NEAR).use();
        ways.lookAgain();
        assertThat(asked).as("nothing was sent to the other one").containsExactly(NEAR);
        assertThat(ways.to(NEAR).use()).isEqualTo(4);
        ways.lookAgain();
        ways.lookAgain();
        assertThat(asked).hasSize(2);
    }

    @Test
    void groupsAndAddressesOfTheLinkAndOfTheHostHaveTheirInterface() {
        for (String each : List.of("ff02::1", "239.1.2.3", "fe80::1", "127.0.0.2", "::1")) {
            assertThat(ways.to(Gid.of(InetAddress.ofLiteral(each))).use()).isZero();
        }
        assertThat(asked).isEmpty();
    }

    @Test
    void addressesOfThisHostAreReachedWithoutAnInterface() {
        assumeThat(LinuxNetwork.obstacle()).isNull();
        Gid own = Gid.of(InetAddress.ofLiteral("127.0.0.1"));
        Boolean isLocal = RouteQuery.ask(routes -> {
            RouteQuery.Route route = routes.find(own,
                    Gid.of(InetAddress.ofLiteral("127.0.0.2")), 0);
            return route != null && !route.isToHost();
        });
        assumeThat(isLocal).as("the kernel tells routes").isNotNull();
        assertThat(isLocal).isTrue();
        assertThat(Ways.interfaceTo(own, own, 1)).isZero();
    }
}
