// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.ConformanceRun;
import io.rdma4j.testkit.DeviceUnderTest;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;
import java.util.List;

/** The software device of the loopback interface, as the conformance suite sees it. */
interface LoopbackUnderTest extends DeviceUnderTest {
    @Override
    default ConformanceRun run() {
        return SoftwareRuns.NETWORK;
    }

    @Override
    default List<ConformanceRun> reportedRuns() {
        return SoftwareRuns.ALL;
    }

    @Override
    default RdmaDevice device() throws RdmaException {
        return RdmaDevices.find("roce_lo");
    }

    /** The first IPv4 address that this process got; others may hold the ones before it. */
    @Override
    default InetAddress connectionAddress() throws RdmaException {
        try (DeviceContext context = device().open()) {
            return context.queryGidTable().stream().map(GidEntry::gid)
                    .filter(gid -> gid.isIpv4()).findFirst().orElseThrow().address();
        }
    }

    /** A group that no other process joins. */
    @Override
    default InetAddress multicastAddress() {
        return InetAddress.ofLiteral(CmStage.OWN.replaceFirst("127", "239"));
    }
}
