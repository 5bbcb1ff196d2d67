// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.CmLayout.CmEvent;
import io.rdma4j.ibverbs.abi.CmLayout.CmId;
import io.rdma4j.ibverbs.abi.CmLayout.EventChannel;
import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Layout.Context;
import io.rdma4j.ibverbs.abi.Layout.Device;
import io.rdma4j.ibverbs.abi.Layout.PortAttr;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.cm.CmChannel;
import io.rdma4j.ibverbs.cm.NativeConnections;
import io.rdma4j.ibverbs.event.EventLoop;
import io.rdma4j.ibverbs.values.Paths;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmMembership;
import io.rdma4j.spi.JoinRequest;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Groups of InfiniBand, which have LIDs that only the subnet manager knows: from the event of the connection manager to the call
 * that attaches a queue pair.
 */
class InfinibandGroupsTest {
    private static final InetAddress OF_IB0 = InetAddress.ofLiteral("10.0.0.1");
    private static final int MULTICAST_JOIN = 12;
    private static final int AGAIN = 11;
    private static final int NON_BLOCKING = 0x800;
    private static final int LID = 0xc003;
    private static final int OTHER_LID = 0xc0de;
    private static final AddressHandleAttributes PATH = new AddressHandleAttributes(
            Gid.of(HexFormat.of().parseHex("ff12601bffff0000000000000f010203")), 0, 0, 1, 0, LID, 0,
            0, 0, true, 1);

    private final FakeDriver driver = new FakeDriver();
    private final Arena arena = Arena.ofShared();
    private final FakeLibrary manager = new FakeLibrary(List.of(CmSymbol.values()));
    private final Library<SystemSymbol> system;
    private final MemorySegment channel = arena.allocate(EventChannel.SIZE, 8);
    private final MemorySegment id = arena.allocate(CmId.SIZE, 8);
    private final AtomicInteger events = new AtomicInteger();
    /** The LIDs by which queue pairs were attached and detached. */
    private final List<String> calls = new CopyOnWriteArrayList<>();

    InfinibandGroupsTest() throws RdmaException {
        system = new Library<>("libc.so.6", SystemSymbol.class, FakeLibrary.system());
    }

    @AfterEach
    void librariesDidNotFail() throws Exception {
        driver.close();
        assertThat(manager.failures()).isEmpty();
    }

    private CmChannel open() throws RdmaException {
        Native.putInt(channel, EventChannel.FD,
                (int) system.get(SystemSymbol.EVENTFD).call(0, NON_BLOCKING).value());
        MemorySegment device = arena.allocate(Device.SIZE, 8);
        device.setString(Device.NAME, "fake0");
        MemorySegment verbs = arena.allocate(Context.SIZE, 8);
        Native.putLong(verbs, Context.DEVICE, device.address());
        Native.putLong(id, CmId.VERBS, verbs.address());
        manager.define(CmSymbol.CREATE_EVENT_CHANNEL, arguments -> channel.address());
        manager.define(CmSymbol.CREATE_ID, arguments -> {
            Native.putLong(Native.at(arguments[1], Long.BYTES), 0, id.address());
            return 0;
        });
        manager.define(CmSymbol.GET_CM_EVENT, arguments -> {
            if (events.getAndUpdate(each -> Math.max(0, each - 1)) == 0) {
                return FakeLibrary.fail(AGAIN);
            }
            MemorySegment joined = arena.allocate(CmEvent.SIZE, 8);
            Native.putLong(joined, CmEvent.ID, id.address());
            Native.putInt(joined, CmEvent.EVENT, MULTICAST_JOIN);
            Native.putInt(joined, CmEvent.UD_QP_NUM, 0xff_ffff);
            Native.putInt(joined, CmEvent.UD_QKEY, 0x0b1b);
            Paths.write(joined, CmEvent.UD_AH_ATTR, PATH);
            Native.putLong(Native.at(arguments[1], Long.BYTES), 0, joined.address());
            return 0;
        });
        driver.operation(ContextOperation.QUERY_PORT, arguments -> {
            Native.putByte(Native.at(arguments[2], PortAttr.SIZE), PortAttr.LINK_LAYER, 1);
            return 0;
        });
        driver.library.define(VerbsSymbol.ATTACH_MCAST, arguments -> {
            calls.add(String.format("attach %x", arguments[2] & 0xffff));
            return 0;
        });
        driver.library.define(VerbsSymbol.DETACH_MCAST, arguments -> {
            calls.add(String.format("detach %x", arguments[2] & 0xffff));
            return 0;
        });
        return new CmChannel(new Library<>("librdmacm.so.1", CmSymbol.class, manager.lookup()),
                system, new EventLoop(system, "events of groups"));
    }

    private void tellThatItIsJoined() {
        events.incrementAndGet();
        MemorySegment one = arena.allocate(Long.BYTES, Long.BYTES);
        Native.putLong(one, 0, 1);
        system.get(SystemSymbol.WRITE).call(Native.getInt(channel, EventChannel.FD),
                one.address(),
                Long.BYTES);
    }

    /** Attaches a queue pair as soon as the group is joined, as an id does. */
    private static final class Attaching implements CmMembership.Handler {
        final CompletableFuture<@Nullable Integer> qkey = new CompletableFuture<>();
        private final QueuePair receiver;

        Attaching(QueuePair receiver) {
            this.receiver = receiver;
        }

        @Override
        public void onJoined(AddressHandleAttributes path, @Nullable Integer key) {
            try {
                receiver.attachMulticast(path.destination());
                qkey.complete(key);
            } catch (RdmaException e) {
                qkey.completeExceptionally(e);
            }
        }

        @Override
        public void onNotJoined(RdmaException cause) {
            qkey.completeExceptionally(cause);
        }
    }

    @Test
    void queuePairIsAttachedByTheLidThatTheSubnetManagerHasGiven() throws Exception {
        CmChannel events = open();
        NativeContext context = driver.open(Map.of(OF_IB0, 1),
                (device, following) -> new NativeConnections(events, device, following));
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(new QueuePairInitAttributes().type(QueuePairType.UD)
                        .completionQueue(context.createCompletionQueue(4)));
        FakeDriver.ready(queuePair);
        CmDatagrams services = Objects.requireNonNull(context.datagramServices());
        Attaching attaching = new Attaching(queuePair);
        CmMembership membership = services.join(
                new JoinRequest(InetAddress.ofLiteral("239.1.2.3"), OF_IB0, 0, false), attaching);
        tellThatItIsJoined();
        assertThat(attaching.qkey.get(20, TimeUnit.SECONDS)).isEqualTo(0x0b1b);
        assertThat(calls).containsExactly("attach c003");
        // The kernel knows it by the LID, also when the group is left before.
        membership.close();
        queuePair.detachMulticast(PATH.destination());
        assertThat(calls).containsExactly("attach c003", "detach c003");
        // Without a member the LID is not known.
        queuePair.attachMulticast(PATH.destination());
        assertThat(calls).last().isEqualTo("attach 0");
        queuePair.detachMulticast(PATH.destination());
        // Unless the program knows it.
        queuePair.attachMulticast(PATH.destination(), OTHER_LID);
        assertThat(calls).last().isEqualTo("attach c0de");
        queuePair.detachMulticast(PATH.destination());
        assertThat(calls).last().isEqualTo("detach c0de");
        for (int lid : new int[]{-1, 1, 0xbfff, 0xffff, 0x1c003}) {
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> queuePair.attachMulticast(PATH.destination(), lid))
                    .withMessageContaining("is no multicast LID; those are 0xc000 to 0xfffe")
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        }
        assertThat(calls).hasSize(6);
        queuePair.close();
    }
}
