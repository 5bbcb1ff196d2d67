// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.device.SecureNumbers;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.network.CountedRounds;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PortableNetwork;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * After any way to close or to fail, a quiet device uses no processor. The queue pairs end while they have much to send to a
 * device that stands still, as of a stopped process: it works only when the test polls it.
 */
class QuietDeviceTest {
    private static final String NETWORK = "127." + (100 + ProcessHandle.current().pid() % 100) + "."
            + ProcessHandle.current().pid() / 100 % 256 + ".";
    private static final int FIRST_PSN = 5;
    private static final int QKEY = 0x1111_1111;
    private static final int DEPTH = 64;
    private static final int LONG = 64 << 10;
    private static final int SHORT = 1024;
    /** The peer has nothing more to read then. */
    private static final int VAIN_POLLS = 100;

    private final Arena arena = Arena.ofShared();
    private final List<SoftNic> nics = new ArrayList<>();
    private final QuietRounds rounds = new QuietRounds();
    private int lastAddress = 100;

    @AfterEach
    void close() {
        nics.forEach(SoftNic::shutDown);
        arena.close();
    }

    /** How packets travel. */
    enum Way {
        DIRECT, SHARED, LINUX, PORTABLE;

        DatagramNetwork network() throws Exception {
            NetworkInterface loopback = NetworkInterface
                    .getByInetAddress(InetAddress.getLoopbackAddress());
            return switch (this) {
                case SHARED -> new LinuxNetwork(loopback, LinuxNetwork.SharedMemoryUse.OTHERS);
                case LINUX -> new LinuxNetwork(loopback, LinuxNetwork.SharedMemoryUse.NEVER);
                case DIRECT, PORTABLE -> new PortableNetwork(loopback);
            };
        }
    }

    /** How a queue pair ends. */
    enum End {
        CLOSED,
        FAILED,
        RESET,
        TIMED_OUT,
        PEER_CLOSED,
        UNRELIABLE_CLOSED,
        ANOTHER_DATAGRAM,
        DATAGRAMS_CLOSED,
        GROUP_LEFT;

        QueuePairType type() {
            return switch (this) {
                case CLOSED, FAILED, RESET, TIMED_OUT, PEER_CLOSED -> QueuePairType.RC;
                case UNRELIABLE_CLOSED -> QueuePairType.UC;
                case ANOTHER_DATAGRAM, DATAGRAMS_CLOSED, GROUP_LEFT -> QueuePairType.UD;
            };
        }
    }

    /** A device at an address of its own. */
    private final class Device {
        final CountedRounds network;
        final SoftNic nic;
        final ProtectionDomain domain;
        final CompletionQueue completions;
        final MemoryRegion region;

        /** @param threadName null for one that stands still */
        Device(Way way, @Nullable String threadName) throws Exception {
            network = new CountedRounds(way.network());
            SoftDevice device = new SoftDevice(RoceFamily.ROCE,
                    NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()));
            nic = new SoftNic(device, host -> {
                RoceTransport transport = (RoceTransport) RoceTransport
                        .on(network, CmSettings.defaults(1)).apply(host);
                transport.skipNetwork(way == Way.DIRECT);
                return transport;
            }, new SecureNumbers(), System::nanoTime, threadName);
            nics.add(nic);
            nic.start(InetAddress.ofLiteral(NETWORK + lastAddress++));
            SoftDeviceContext context = new SoftDeviceContext(nic);
            domain = context.allocateProtectionDomain();
            completions = context.createCompletionQueue(2 * DEPTH);
            region = domain.register(arena.allocate(LONG, 64), AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_WRITE);
        }

        QueuePair queuePair(QueuePairType type) throws RdmaException {
            return domain.createQueuePair(new QueuePairInitAttributes().type(type)
                    .completionQueue(completions)
                    .capabilities(QueuePairCapabilities.ofDepth(DEPTH, 1)));
        }

        Gid gid() {
            return nic.gids().get(1);
        }

        AddressHandle handle(Device to) throws RdmaException {
            return domain.createAddressHandle(AddressHandleAttributes.to(to.gid(), 1));
        }

        void readAll() {
            long before = -1;
            for (int vain = 0; vain < VAIN_POLLS; vain++) {
                nic.driver().poll();
                long received = nic.engine().counters().value(Counter.RCVD_PKTS);
                vain = received == before ? vain : 0;
                before = received;
            }
        }
    }

    private static void connect(QueuePair own, QueuePair other, Device peer, QueuePairType type)
            throws RdmaException {
        QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                .pkeyIndex(0);
        QueuePairAttributes ready = new QueuePairAttributes().state(QueuePairState.RTR);
        QueuePairAttributes sending = new QueuePairAttributes().state(QueuePairState.RTS)
                .sendPsn(FIRST_PSN);
        if (type == QueuePairType.UD) {
            init.qkey(QKEY);
        } else {
            init.accessFlags(AccessFlag.REMOTE_WRITE);
            ready.addressVector(AddressHandleAttributes.to(peer.gid(), 1)).pathMtu(Mtu.MTU_4096)
                    .destinationQueuePairNumber(other.number()).receivePsn(FIRST_PSN);
        }
        if (type == QueuePairType.RC) {
            ready.maxDestinationReadAtomic(1).minRnrTimerCode(1);
            sending.ackTimeoutExponent(12).retryCount(7).rnrRetry(7).maxReadAtomic(1);
        }
        own.modify(init);
        own.modify(ready);
        own.modify(sending);
    }

    /** A queue pair with much to send, and its end. */
    private final class Scene {
        final End end;
        final Device own;
        final Device peer;
        final Device another;
        final QueuePair queuePair;
        final QueuePair ofPeer;

        Scene(Way way, End end) throws Exception {
            this.end = end;
            own = new Device(way, "quiet-" + end);
            rounds.add(end.name(), own.network::rounds);
            // A device that reaches itself directly reaches no other so.
            peer = way == Way.DIRECT ? own : new Device(way, null);
            another = end == End.ANOTHER_DATAGRAM && way != Way.DIRECT ? new Device(way, null)
                    : own;
            queuePair = own.queuePair(end.type());
            ofPeer = peer.queuePair(end.type());
            connect(queuePair, ofPeer, peer, end.type());
            connect(ofPeer, queuePair, own, end.type());
        }

        void begin() throws RdmaException {
            for (int i = 0; i < DEPTH; i++) {
                queuePair.postSend(end.type() == QueuePairType.UD
                        ? datagram(peer)
                        : new SendWorkRequest().write(peer.region.address(), peer.region.rkey())
                                .add(own.region, 0, LONG).set(SendFlag.SIGNALED));
            }
        }

        private SendWorkRequest datagram(Device to) throws RdmaException {
            return new SendWorkRequest().send().add(own.region, 0, SHORT).set(SendFlag.SIGNALED)
                    .to(own.handle(to), ofPeer.number(), QKEY);
        }

        void end() throws Exception {
            switch (end) {
                case CLOSED, UNRELIABLE_CLOSED -> queuePair.close();
                case FAILED -> modify(QueuePairState.ERR);
                case RESET -> modify(QueuePairState.RESET);
                case TIMED_OUT -> await(1);
                case PEER_CLOSED -> {
                    if (peer != own) {
                        nics.remove(peer.nic);
                        peer.nic.shutDown();
                    }
                }
                case ANOTHER_DATAGRAM -> {
                    fill();
                    await(1);
                    queuePair.postSend(datagram(another));
                }
                case DATAGRAMS_CLOSED -> {
                    fill();
                    queuePair.close();
                }
                case GROUP_LEFT -> {
                    Gid group = Gid.of(InetAddress.ofLiteral("239.77.88.99"));
                    queuePair.attachMulticast(group);
                    queuePair.postSend(new SendWorkRequest().send().add(own.region, 0, SHORT)
                            .to(own.domain.createAddressHandle(
                                    AddressHandleAttributes.to(group, 1)), 0xff_ffff, QKEY));
                    queuePair.detachMulticast(group);
                }
            }
        }

        private void modify(QueuePairState next) throws RdmaException {
            queuePair.modify(new QueuePairAttributes().state(next));
        }

        private void await(int count) throws RdmaException {
            WorkCompletion completion = new WorkCompletion();
            for (int i = 0; i < count; i++) {
                Wait.until("a completion of " + end, () -> own.completions.poll(completion));
            }
        }

        /** Sends datagrams until the ring is full. */
        private void fill() throws RdmaException {
            WorkCompletion completion = new WorkCompletion();
            for (int i = 0; i < 20 * DEPTH; i++) {
                Wait.until("a completion of " + end, () -> own.completions.poll(completion));
                queuePair.postSend(datagram(peer));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void afterAnyEndItsThreadSleeps(Way way) throws Exception {
        if (way == Way.SHARED || way == Way.LINUX) {
            assumeThat(LinuxNetwork.obstacle()).isNull();
        }
        List<Scene> scenes = new ArrayList<>();
        for (End end : End.values()) {
            scenes.add(new Scene(way, end));
        }
        for (Scene scene : scenes) {
            scene.begin();
            scene.end();
        }
        rounds.await("after the end");
        if (way == Way.SHARED) {
            // The process goes on, and there is room in its rings again.
            for (Scene scene : scenes) {
                if (scene.end != End.PEER_CLOSED) {
                    scene.peer.readAll();
                }
            }
            rounds.await("after the peer has read all");
        }
    }
}
