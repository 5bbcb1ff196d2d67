// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A message that a device sends to itself, over a connection of the connection manager. One thread makes both sides; it
 * waits for each step a limited time.
 */
final class LoopbackTransfer {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Comparator<InetAddress> LIKELY_FIRST = Comparator
            .comparing((InetAddress address) -> address.isLinkLocalAddress())
            .thenComparing(address -> !(address instanceof Inet4Address));

    private final String device;

    LoopbackTransfer(String device) {
        this.device = device;
    }

    /**
     * {@return the address it went to; null if the device has no connection manager or no address}
     *
     * @param table the device's GIDs
     * @throws RdmaException if it cannot be sent or does not arrive
     */
    @Nullable
    InetAddress run(List<GidEntry> table) throws RdmaException {
        try (CmEventChannel events = CmEventChannel.create();
                CmId listener = CmId.create(events, PortSpace.TCP);
                CmId client = CmId.create(events, PortSpace.TCP)) {
            InetAddress address = isChosenFor(listener) && isChosenFor(client)
                    ? bound(listener, table)
                    : null;
            if (address == null) {
                return null;
            }
            listener.listen(1);
            client.resolveAddress(new InetSocketAddress(address, 0),
                    new InetSocketAddress(address, listener.localPort()), PATIENCE);
            await(events, CmEventType.ADDR_RESOLVED);
            client.resolveRoute(PATIENCE);
            await(events, CmEventType.ROUTE_RESOLVED);
            try (TransferEnd sender = new TransferEnd(client)) {
                client.connect(new ConnectionParameters());
                try (CmId server = await(events, CmEventType.CONNECT_REQUEST);
                        TransferEnd receiver = new TransferEnd(server)) {
                    transfer(events, client, sender, server, receiver);
                }
            }
            return address;
        }
    }

    /** {@return whether an id takes the device} It is there, so only what has no connection manager is refused. */
    private boolean isChosenFor(CmId id) throws RdmaException {
        try {
            id.device(device);
            return true;
        } catch (RdmaException e) {
            if (e.errno() == Errno.ENODEV) {
                return false;
            }
            throw e;
        }
    }

    /** {@return the first address that the device has, to which the id is bound now; null if there is none} */
    private static @Nullable InetAddress bound(CmId id, List<GidEntry> table)
            throws RdmaException {
        for (InetAddress address : candidates(table)) {
            try {
                id.bindAddress(new InetSocketAddress(address, 0));
                return address;
            } catch (RdmaException e) {
                if (e.errno() != Errno.EADDRNOTAVAIL) {
                    throw e;
                }
                // An address of another device.
            }
        }
        return null;
    }

    /** {@return this machine's addresses, those of the GIDs first} GIDs of InfiniBand and iWARP may be no addresses. */
    private static Set<InetAddress> candidates(List<GidEntry> table) {
        List<InetAddress> own = new ArrayList<>();
        try {
            NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses).forEach(own::add);
        } catch (SocketException unknown) {
            // The GIDs are left.
        }
        Set<InetAddress> candidates = new LinkedHashSet<>();
        table.stream().map(entry -> entry.gid().address())
                .filter(address -> address.isLoopbackAddress() || own.contains(address))
                .sorted(LIKELY_FIRST).forEach(candidates::add);
        own.stream().sorted(LIKELY_FIRST).forEach(candidates::add);
        return candidates;
    }

    private static void transfer(CmEventChannel events, CmId client, TransferEnd sender,
            CmId server, TransferEnd receiver) throws RdmaException {
        receiver.postReceive();
        server.accept(new ConnectionParameters());
        // One for each side.
        await(events, CmEventType.ESTABLISHED);
        await(events, CmEventType.ESTABLISHED);
        sender.send(PATIENCE);
        receiver.receive(PATIENCE);
        client.disconnect();
        server.disconnect();
    }

    private static CmId await(CmEventChannel events, CmEventType wanted) throws RdmaException {
        return TransferEnd.await(events, wanted, PATIENCE);
    }
}
