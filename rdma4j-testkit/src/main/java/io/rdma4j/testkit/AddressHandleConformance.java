// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.PortFlag;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;

import static org.assertj.core.api.Assertions.assertThat;

/** Address handles. */
public abstract class AddressHandleConformance extends Conformance {
    /** Called by subclasses. */
    protected AddressHandleConformance() {}

    private static AddressHandleAttributes toItself(DeviceContext context) throws RdmaException {
        GidEntry gid = Player.gid(context);
        return AddressHandleAttributes.to(gid.gid(), gid.index());
    }

    @ConformanceCase(after = "test_addr.create_ah")
    void handleKeepsItsPathAndLeadsThere() throws RdmaException {
        DeviceContext context = open();
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        AddressHandleAttributes path = toItself(context).withTrafficClass(4).withHopLimit(7);
        AddressHandle handle = keep(domain.createAddressHandle(path));
        assertThat(handle.attributes()).isEqualTo(path);
        assertThat(handle.protectionDomain()).isSameAs(domain);
        assertDatagramArrives();
    }

    /** Sends along a path that says everything a path can say. */
    private void assertDatagramArrives() throws RdmaException {
        Players players = players(new PlayerSettings().type(QueuePairType.UD));
        Player client = players.client;
        Player server = players.server;
        AddressHandle handle = keep(client.domain.createAddressHandle(
                client.pathTo(server).withTrafficClass(4).withHopLimit(7)));
        byte[] sent = {1, 2, 3, 4};
        client.store(Player.SEND_AT, sent);
        long receive = server.receive(sent.length);
        long send = client.newId();
        client.queuePair.postSend(new SendWorkRequest().id(send).send()
                .add(client.region, Player.SEND_AT, sent.length).set(SendFlag.SIGNALED)
                .to(handle, server.queuePair.number(), Player.QKEY));
        client.awaitSuccess(send);
        server.awaitSuccess(receive);
        assertThat(server.load(Player.RECEIVE_AT + server.headerLength(), sent.length))
                .isEqualTo(sent);
    }

    @ConformanceCase(after = "test_addr.create_ah_roce")
    void roceRefusesAPathWithoutGlobalRoute() throws RdmaException {
        DeviceContext context = open();
        assumeOffered(context.queryPort(Player.PORT).linkLayer() == LinkLayer.ETHERNET,
                "the link layer is not Ethernet");
        assumeOffered(context.queryPort(Player.PORT).flags().contains(PortFlag.GRH_REQUIRED),
                "paths need no global route");
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        assertRefused(
                () -> domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0)
                        .withGlobal(false).withPort(Player.PORT)),
                Errno.EINVAL);
    }

    @ConformanceCase(after = "test_addr.destroy_ah")
    void handleCanBeFreedTwice() throws RdmaException {
        DeviceContext context = open();
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        AddressHandle handle = domain.createAddressHandle(toItself(context));
        assertRefused(domain::close, Errno.EBUSY);
        handle.close();
        handle.close();
        domain.close();
    }
}
