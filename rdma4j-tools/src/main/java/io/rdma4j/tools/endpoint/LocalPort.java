// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.endpoint;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.Set;

/**
 * A device's port and its GID, and how queue pairs are connected from there without a connection manager.
 *
 * @param context the device
 * @param number the port's number
 * @param gidIndex the GID's place in the port's table
 * @param serviceLevel the service level of what is sent
 * @param gidOption the option by which users choose another GID
 */
public record LocalPort(DeviceContext context, int number, int gidIndex, int serviceLevel,
        String gidOption) {
    /** The Q_Key of all datagram queue pairs of the tools, as in the C programs. */
    public static final int QKEY = 0x11111111;

    private static final int PSNS = 1 << 24;
    private static final int HOPS = 64;
    private static final int RETRIES = 7;
    private static final int RNR_TIMER = 12;

    /**
     * Checks that queue pairs of a device can be connected without a connection manager.
     *
     * @param wayOut what the user can do instead
     * @throws IOException if they cannot
     */
    public static void requireByHand(DeviceContext context, String wayOut) throws IOException {
        if (context.device().transport() == TransportType.IWARP) {
            throw new IOException(context.device().name() + " speaks iWARP, whose connections the"
                    + " connection manager makes alone: " + wayOut);
        }
    }

    /** {@return the same port and GID of the same device, opened once more} */
    public LocalPort on(DeviceContext other) {
        return new LocalPort(other, number, gidIndex, serviceLevel, gidOption);
    }

    /**
     * Brings a new queue pair to INIT.
     *
     * @param peerAccess what the peer of a connection may do to this side's memory
     */
    public void initialize(QueuePair queuePair, Set<AccessFlag> peerAccess) throws RdmaException {
        QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT)
                .pkeyIndex(0).port(number);
        queuePair.modify(queuePair.type() == QueuePairType.UD
                ? init.qkey(QKEY)
                : init.accessFlags(peerAccess));
    }

    /** {@return what to tell the peer of a queue pair, with a random first PSN} */
    public QueuePairAddress addressOf(QueuePair queuePair) throws RdmaException {
        return new QueuePairAddress(context.queryPort(number).lid(), queuePair.number(),
                new SecureRandom().nextInt(PSNS), context.queryGid(number, gidIndex));
    }

    /**
     * Makes a connected queue pair ready to receive from that of the peer and to send to it.
     *
     * @param reliable what holds if the connection is reliable
     * @throws IOException if the GIDs are not of the same IP version, or the device refuses
     */
    public void connect(QueuePair queuePair, QueuePairAddress own, QueuePairAddress peer,
            Mtu mtu, ReliableSettings reliable) throws IOException {
        QueuePairAttributes receiving = new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(pathTo(own, peer)).pathMtu(mtu)
                .destinationQueuePairNumber(peer.number()).receivePsn(peer.psn());
        QueuePairAttributes sending = new QueuePairAttributes().state(QueuePairState.RTS)
                .sendPsn(own.psn());
        if (queuePair.type() == QueuePairType.RC) {
            receiving.maxDestinationReadAtomic(reliable.readsAnswered()).minRnrTimerCode(RNR_TIMER);
            sending.ackTimeoutExponent(reliable.timeout()).retryCount(RETRIES).rnrRetry(RETRIES)
                    .maxReadAtomic(reliable.readsAsked());
        }
        queuePair.modify(receiving);
        queuePair.modify(sending);
    }

    /**
     * Makes a datagram queue pair ready to receive and to send.
     *
     * @return the way to that of the peer; the caller closes it
     * @throws IOException if the GIDs are not of the same IP version, or the device refuses
     */
    public AddressHandle connectDatagrams(QueuePair queuePair, QueuePairAddress own,
            QueuePairAddress peer) throws IOException {
        ProtectionDomain domain = queuePair.protectionDomain();
        AddressHandle handle = domain.createAddressHandle(pathTo(own, peer));
        try {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS)
                    .sendPsn(own.psn()));
            return handle;
        } catch (RdmaException | RuntimeException e) {
            handle.close();
            throw e;
        }
    }

    /** {@return which side must be given what for both GIDs to be of one IP version} */
    private String wayOut(Gid peer) throws RdmaException {
        for (GidEntry entry : context.queryGidTable()) {
            if (entry.port() == number && entry.gid().isIpv4() == peer.isIpv4()
                    && !entry.gid().isLinkLocal()) {
                return "start this side with -d " + context.device().name() + " " + gidOption + " "
                        + entry.index() + ", which is " + entry.gid().addressText();
            }
        }
        return "start the peer with " + gidOption + " of an address of the other version"
                + " (show_gids lists them)";
    }

    private AddressHandleAttributes pathTo(QueuePairAddress own, QueuePairAddress peer)
            throws IOException {
        if (peer.gid().isIpv4() != own.gid().isIpv4()) {
            throw new IOException("this side's GID " + own.gid().addressText() + " and the peer's "
                    + peer.gid().addressText() + " are not of the same IP version; "
                    + wayOut(peer.gid()));
        }
        return AddressHandleAttributes.to(peer.gid(), gidIndex).withHopLimit(HOPS)
                .withDestinationLid(peer.lid() & 0xffff).withServiceLevel(serviceLevel)
                .withPort(number);
    }
}
