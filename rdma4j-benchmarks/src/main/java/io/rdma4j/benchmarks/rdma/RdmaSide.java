// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * One process's loopback device with connected queue pairs, one completion queue for all and a region with a message's room for
 * each. {@code rdma4j.device} says of which family the device is, {@code rdma4j.benchmarks.memory=device} that the device
 * allocates the region.
 */
final class RdmaSide implements AutoCloseable {
    /** Path MTU of all measurements. */
    static final Mtu PATH_MTU = Mtu.MTU_4096;

    private static final int PORT = 1;
    private static final int FIRST_PSN = 77;
    /** READs under way on a queue pair, as many as perftest asks for at most. */
    private static final int READS = 16;

    private final Arena arena = Arena.ofShared();
    private final DeviceContext context;
    private final ProtectionDomain domain;
    private final CompletionChannel channel = CompletionChannel.create();
    private final CompletionQueue completions;
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final MemoryRegion region;
    private final ManagedPairs managed = new ManagedPairs();
    private long peerAddress;
    private int peerKey;

    RdmaSide(Settings settings, int receives) throws RdmaException {
        context = RdmaDevices.find(device()).open();
        domain = context.allocateProtectionDomain();
        int work = settings.queuePairs() * (settings.depth() + receives);
        completions = context.createCompletionQueue(work, channel);
        for (int i = 0; i < settings.queuePairs(); i++) {
            queuePairs.add(domain.createQueuePair(new QueuePairInitAttributes()
                    .completionQueue(completions)
                    .capabilities(QueuePairCapabilities.ofDepth(settings.depth(), receives))));
        }
        region = region((long) settings.queuePairs() * settings.sizeBytes());
    }

    private MemoryRegion region(long length) throws RdmaException {
        AccessFlag[] access = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_WRITE};
        return "device".equals(System.getProperty("rdma4j.benchmarks.memory"))
                ? domain.allocateRegion(length, access)
                : domain.register(arena.allocate(length, 4096), access);
    }

    /** {@return the loopback device of the family asked for} */
    static String device() {
        return System.getProperty("rdma4j.device", "roce") + "_lo";
    }

    private boolean isManaged() {
        return context.device().transport() == TransportType.IWARP;
    }

    static int firstIpv4(DeviceContext context) throws RdmaException {
        for (GidEntry entry : context.queryGidTable()) {
            if (entry.gid().isIpv4()) {
                return entry.index();
            }
        }
        throw new RdmaException(Errno.ENODEV, "find GID",
                context.device().name() + " has no IPv4 address");
    }

    /** Exchanges numbers, keys and addresses and brings all queue pairs up. */
    void connect(Control control) throws IOException {
        control.out().writeLong(region.address());
        control.out().writeInt(region.rkey());
        peerAddress = control.in().readLong();
        peerKey = control.in().readInt();
        if (isManaged()) {
            managed.connect(queuePairs, control, READS);
        } else {
            connectByHand(control);
        }
        control.meet();
    }

    private void connectByHand(Control control) throws IOException {
        int gidIndex = firstIpv4(context);
        control.out().write(context.queryGid(PORT, gidIndex).bytes());
        for (QueuePair queuePair : queuePairs) {
            control.out().writeInt(queuePair.number());
        }
        Gid peer = Gid.of(control.in().readNBytes(16));
        for (QueuePair queuePair : queuePairs) {
            bringUp(queuePair, peer, gidIndex, control.in().readInt());
        }
    }

    /** Takes a queue pair from RESET to RTS. */
    static void bringUp(QueuePair queuePair, Gid peer, int gidIndex, int peerNumber)
            throws RdmaException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(PORT)
                .pkeyIndex(0).accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_ATOMIC));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(peer, gidIndex)).pathMtu(PATH_MTU)
                .destinationQueuePairNumber(peerNumber).receivePsn(FIRST_PSN)
                .maxDestinationReadAtomic(READS).minRnrTimerCode(1));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).ackTimeoutExponent(14)
                .retryCount(7).rnrRetry(7).sendPsn(FIRST_PSN).maxReadAtomic(READS));
    }

    List<QueuePair> queuePairs() {
        return queuePairs;
    }

    CompletionQueue completions() {
        return completions;
    }

    CompletionChannel channel() {
        return channel;
    }

    MemoryRegion region() {
        return region;
    }

    /** {@return where the peer's region starts} */
    long peerAddress() {
        return peerAddress;
    }

    /** {@return the key of the peer's region} */
    int peerKey() {
        return peerKey;
    }

    /** Refuses work that failed. */
    static void check(WorkCompletion completion) throws RdmaException {
        if (!completion.isSuccess()) {
            throw new RdmaException(Errno.EIO, "measure", completion.toString());
        }
    }

    @Override
    public void close() throws RdmaException {
        managed.close();
        for (QueuePair queuePair : queuePairs) {
            queuePair.close();
        }
        completions.close();
        channel.close();
        region.close();
        domain.close();
        context.close();
        arena.close();
    }
}
