// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.ScatterGatherElement;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** What logs and error messages say of ids and of memory; of the other objects the conformance suite looks. */
class ResourceTextTest {
    @Test
    void piecesOfMemorySayWhereTheyAre() throws Exception {
        try (DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion region = domain.allocateRegion(4096, AccessFlag.LOCAL_WRITE,
                        AccessFlag.MW_BIND)) {
            assertThat(ScatterGatherElement.of(region, 8, 16).toString())
                    .matches("0x[0-9a-f]+\\+16 lkey 0x[0-9a-f]{8}");
            assertThat(new MemoryWindowBind(region, region.address(), 8,
                    Set.of(AccessFlag.REMOTE_WRITE)).toString())
                    .matches("0x[0-9a-f]+\\+8 \\[REMOTE_WRITE] of rkey 0x[0-9a-f]{8}");
        }
    }

    @Test
    void anIdSaysItsStateItsAddressesAndItsDevice() throws Exception {
        CmId id = CmId.create(PortSpace.TCP);
        assertThat(id).hasToString("id TCP IDLE");
        id.device("roce");
        id.bindAddress(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
        assertThat(id).hasToString("id TCP BOUND 127.0.0.1:" + id.localPort() + " on roce_lo");
        id.close();
        assertThat(id.toString()).startsWith("id TCP CLOSED");
    }
}
