// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.rdma4j.cm.CmEventType;

import java.io.IOException;
import java.net.InetSocketAddress;

import static org.assertj.core.api.Assertions.assertThat;

/** Two ends in this process, connected by DiSNI's connection manager. */
final class Connection {
    static final InetSocketAddress ADDRESS = new InetSocketAddress(Loopback.OWN, Loopback.PORT);
    private static final int TIMEOUT_MS = 20_000;

    final RdmaEventChannel serverEvents = RdmaEventChannel.createEventChannel();
    final RdmaEventChannel clientEvents = RdmaEventChannel.createEventChannel();
    final RdmaCmId listener;
    final End server;
    final End client;

    /** Connects with DiSNI's default, no retries. */
    Connection() throws IOException {
        this(new RdmaConnParam());
    }

    Connection(RdmaConnParam parameters) throws IOException {
        listener = serverEvents.createId(RdmaCm.RDMA_PS_TCP);
        listener.bindAddr(ADDRESS);
        listener.listen(1);
        RdmaCmId connecting = clientEvents.createId(RdmaCm.RDMA_PS_TCP);
        connecting.resolveAddr(null, ADDRESS, TIMEOUT_MS);
        expect(clientEvents, CmEventType.ADDR_RESOLVED);
        connecting.resolveRoute(TIMEOUT_MS);
        expect(clientEvents, CmEventType.ROUTE_RESOLVED);
        client = new End(connecting);
        connecting.connect(parameters);
        RdmaCmEvent request = expect(serverEvents,
                CmEventType.CONNECT_REQUEST);
        assertThat(request.getListenIdPriv()).isSameAs(listener);
        server = new End(request.getConnIdPriv());
        server.id.accept(parameters);
        expect(clientEvents, CmEventType.ESTABLISHED);
        expect(serverEvents, CmEventType.ESTABLISHED);
    }

    static RdmaCmEvent expect(RdmaEventChannel events, CmEventType type)
            throws IOException {
        RdmaCmEvent event = events.getCmEvent(TIMEOUT_MS);
        assertThat(event).as("an event").isNotNull();
        assertThat(event.getEvent()).isEqualTo(type.code());
        return event;
    }

    /** Ends it, in an order that C allows. */
    void close() throws Exception {
        client.id.disconnect();
        server.id.disconnect();
        for (End end : new End[]{client, server}) {
            end.id.destroyQP();
            end.id.destroyId();
            end.queue.destroyCQ();
            end.channel.destroyCompChannel();
            end.domain.deallocPd();
        }
        listener.destroyId();
        clientEvents.destroyEventChannel();
        serverEvents.destroyEventChannel();
    }
}
