// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEventChannel;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ParentDomainInitAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.ThreadDomain;
import io.rdma4j.verbs.WaitSet;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What holds for the objects of every device: what they say once they are closed, and how logs name them. */
public abstract class ObjectsConformance extends Conformance {
    private static final int PORT = Player.PORT;
    private static final String NUMBER = "0x[0-9a-f]+";
    private static final String KEY = "0x[0-9a-f]{8}";
    /** To close again does nothing. */
    private static final Set<String> ALLOWED = Set.of("close", "closeAll", "closeQueuePair",
            "closeSharedReceiveQueue");

    private final MemorySegment memory = Arena.ofAuto().allocate(4096, 4096);

    /** Called by subclasses. */
    protected ObjectsConformance() {}

    /** How an object is made, which the caller closes. */
    private interface Maker {
        AutoCloseable make() throws RdmaException;
    }

    /**
     * A kind of object.
     *
     * @param type the interface or class that programs use
     * @param text what its text is while it is open, as a pattern in which DEVICE is the name of the device
     * @param maker makes one; refuses with EOPNOTSUPP where the device has none
     */
    private record Kind(Class<?> type, String text, Maker maker) {}

    private List<Kind> kinds(DeviceContext context, ProtectionDomain domain,
            CompletionQueue queue) {
        return List.of(
                new Kind(DeviceContext.class, "context of DEVICE", () -> device().open()),
                new Kind(ProtectionDomain.class, "protection domain on DEVICE",
                        context::allocateProtectionDomain),
                new Kind(CompletionQueue.class, "completion queue of \\d+ on DEVICE",
                        () -> context.createCompletionQueue(4)),
                new Kind(ExtendedCompletionQueue.class, "completion queue of \\d+ on DEVICE",
                        () -> context.createExtendedCompletionQueue(
                                new CompletionQueueInitAttributes())),
                new Kind(QueuePair.class, "queue pair 0x[0-9a-f]{6} RC (RESET|INIT) on DEVICE",
                        () -> domain.createQueuePair(
                                new QueuePairInitAttributes().completionQueue(queue))),
                new Kind(SharedReceiveQueue.class, "shared receive queue BASIC on DEVICE",
                        () -> domain.createSharedReceiveQueue(
                                new SharedReceiveQueueInitAttributes().maxRequests(4))),
                new Kind(MemoryRegion.class,
                        "memory region " + NUMBER + "\\+4096 rkey " + KEY + " on DEVICE",
                        () -> domain.register(memory)),
                new Kind(DeviceMemory.class, "device memory of 64 bytes on DEVICE",
                        () -> context.allocateDeviceMemory(64, 8)),
                new Kind(MemoryWindow.class, "memory window TYPE_2 rkey " + KEY + " on DEVICE",
                        () -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)),
                new Kind(ThreadDomain.class, "thread domain on DEVICE",
                        context::allocateThreadDomain),
                new Kind(AddressHandle.class, "address handle to [0-9a-f.:]+ on DEVICE",
                        () -> handle(context, domain)),
                new Kind(CompletionChannel.class, "completion channel",
                        CompletionChannel::create),
                new Kind(CmEventChannel.class, "event channel of the connection manager",
                        CmEventChannel::create),
                new Kind(WaitSet.class, "wait set", WaitSet::create),
                new Kind(CmId.class, "id TCP BOUND .* on DEVICE", this::id),
                new Kind(AsyncEventChannel.class, "asynchronous event channel of DEVICE",
                        this::events));
    }

    private AddressHandle handle(DeviceContext context, ProtectionDomain domain)
            throws RdmaException {
        if (isIwarp()) {
            throw RdmaException.unsupported("create address handle", "iWARP has no datagrams");
        }
        return domain.createAddressHandle(AddressHandleAttributes.to(
                context.queryGidTable().getLast().gid(),
                context.queryGidTable().getLast().index()));
    }

    private CmId id() throws RdmaException {
        CmId id = CmId.create(PortSpace.TCP);
        String chosen = chosenDevice();
        if (chosen != null) {
            id.device(chosen);
        }
        id.bindAddress(new InetSocketAddress(connectionAddress(), 0));
        id.createQueuePair();
        return id;
    }

    /** {@return the channel of a device's events} It is closed with its device. */
    private AutoCloseable events() throws RdmaException {
        DeviceContext context = device().open();
        return new ClosedWith(context.asyncEventChannel(), context);
    }

    /** An object that another one closes. */
    private record ClosedWith(Object object, DeviceContext owner) implements AutoCloseable {
        @Override
        public void close() throws RdmaException {
            owner.close();
        }
    }

    private static Object plain(AutoCloseable made) {
        return made instanceof ClosedWith other ? other.object : made;
    }

    /** {@return an object of a kind, null if the device has none, which only some kinds allow} */
    private static @Nullable AutoCloseable made(Kind kind) throws RdmaException {
        try {
            return kind.maker.make();
        } catch (RdmaException e) {
            assertThat(e.errno()).as(kind.type + ": " + e.getMessage())
                    .isEqualTo(Errno.EOPNOTSUPP);
            return null;
        }
    }

    @ConformanceCase
    void everyMethodOfAClosedObjectRefusesAlike() throws Exception {
        DeviceContext context = open();
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        CompletionQueue queue = keep(context.createCompletionQueue(4));
        MemoryRegion region = keep(domain.register(memory, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE, AccessFlag.MW_BIND));
        List<AnyArguments> arguments = List.of(
                new AnyArguments(this::keep, region, queue, context.queryGid(PORT, 0), false),
                new AnyArguments(this::keep, region, queue, context.queryGid(PORT, 0), true));
        List<String> otherwise = new ArrayList<>();
        int called = 0;
        for (Kind kind : kinds(context, domain, queue)) {
            AutoCloseable object = made(kind);
            if (object == null) {
                continue;
            }
            object.close();
            object.close();
            for (Method method : refusing(kind.type)) {
                for (AnyArguments each : arguments) {
                    Object result = outcome(plain(object), method, each.of(method));
                    called++;
                    if (!(result instanceof RdmaClosedException closed)
                            || closed.errno() != Errno.EBADF) {
                        otherwise.add(kind.type.getSimpleName() + "." + method.getName()
                                + Arrays.toString(method.getParameterTypes()) + ": " + result);
                    }
                }
            }
        }
        assertThat(otherwise).isEmpty();
        assertThat(called).isGreaterThan(200);
    }

    private static List<Method> refusing(Class<?> type) {
        return Arrays.stream(type.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()) && !method.isBridge()
                        && !ALLOWED.contains(method.getName())
                        && Arrays.stream(method.getExceptionTypes())
                                .anyMatch(RdmaException.class::isAssignableFrom))
                .toList();
    }

    /** {@return what a method returned or threw} */
    private static @Nullable Object outcome(Object object, Method method,
            @Nullable Object[] arguments) throws IllegalAccessException {
        try {
            return method.invoke(object, arguments);
        } catch (InvocationTargetException e) {
            return e.getCause();
        }
    }

    @ConformanceCase
    void completionsLeadToTheirQueuePairs() throws Exception {
        Players players = players();
        players.exchange(SendOpcode.SEND);
        Player client = players.client;
        WorkCompletion completion = client.awaitSuccess(
                client.post(client.work(SendOpcode.RDMA_WRITE, 8)));
        DeviceContext context = client.context;
        QueuePair first = client.queuePair;
        QueuePair second = keep(client.domain.createQueuePair(
                new QueuePairInitAttributes().completionQueue(client.queue).userContext(this)));

        assertThat(client.queue.queuePair(completion)).isSameAs(first);
        assertThat(context.queuePair(first.number())).isSameAs(first);
        assertThat(context.queuePair(second.number())).isSameAs(second);
        assertThat(second.userContext()).isSameAs(this);
        // Every number but that of a queue pair.
        assertThat(context.queuePair(0)).isNull();
        second.close();
        assertThat(context.queuePair(second.number())).isNull();
        assertThat(context.queuePair(first.number())).isSameAs(first);
        DeviceContext another = open();
        assertThat(another.queuePair(first.number())).as("in another context").isNull();
    }

    @ConformanceCase
    void everythingOfAContextIsClosedByOneCall() throws Exception {
        DeviceContext context = open();
        List<AutoCloseable> made = everything(context);

        assertRefused(context::close, Errno.EBUSY);
        context.closeAll();

        for (AutoCloseable object : made) {
            // Does nothing, if it is closed; otherwise the library would free it after its context.
            object.close();
        }
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(context::allocateProtectionDomain);
        context.closeAll();
        context.close();
    }

    /** {@return one of each kind of object that a device has, made so that none can be closed before a later one} */
    private List<AutoCloseable> everything(DeviceContext context) throws RdmaException {
        List<AutoCloseable> made = new ArrayList<>();
        ProtectionDomain domain = context.allocateProtectionDomain();
        made.add(domain);
        addIfOffered(made, () -> {
            ThreadDomain thread = context.allocateThreadDomain();
            made.add(thread);
            return domain.createParentDomain(
                    new ParentDomainInitAttributes().threadDomain(thread));
        });
        addIfOffered(made, () -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_2));
        made.add(domain.register(memory, AccessFlag.LOCAL_WRITE));
        addIfOffered(made, () -> {
            DeviceMemory own = context.allocateDeviceMemory(64, 8);
            made.add(own);
            return domain.register(new MemoryRegionInitAttributes().deviceMemory(own, 0, 64)
                    .access(Set.of(AccessFlag.ZERO_BASED)));
        });
        CompletionQueue queue = context.createCompletionQueue(4);
        made.add(queue);
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes().maxRequests(4));
        made.add(shared);
        made.add(domain.createQueuePair(
                new QueuePairInitAttributes().completionQueue(queue).sharedReceiveQueue(shared)));
        if (!isIwarp()) {
            made.add(handle(context, domain));
            QueuePair datagrams = domain.createQueuePair(
                    new QueuePairInitAttributes().type(QueuePairType.UD).completionQueue(queue));
            made.add(datagrams);
            if (context.queryPort(PORT).linkLayer() == LinkLayer.ETHERNET) {
                datagrams.attachMulticast(Gid.of(InetAddress.ofLiteral("239.1.2.3")));
            }
        }
        return made;
    }

    private static void addIfOffered(List<AutoCloseable> made, Maker maker) throws RdmaException {
        try {
            made.add(maker.make());
        } catch (RdmaException e) {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(Errno.EOPNOTSUPP);
        }
    }

    @ConformanceCase
    void contextThatIdsShareIsNotClosedAtOnce() throws Exception {
        try (CmId id = id()) {
            assertRefused(id.context()::closeAll, Errno.EBUSY, "close the ids");
            assertThat(id.queuePair().toString()).doesNotContain(" closed ");
        }
    }

    @ConformanceCase
    void everyObjectSaysInOneLineWhatItIs() throws Exception {
        DeviceContext context = open();
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        CompletionQueue queue = keep(context.createCompletionQueue(4));
        for (Kind kind : kinds(context, domain, queue)) {
            AutoCloseable object = made(kind);
            if (object == null) {
                continue;
            }
            try (object) {
                assertThat(plain(object).toString()).as(kind.type.getName())
                        .matches(kind.text.replace("DEVICE", Pattern.quote(device().name())));
            }
            if (plain(object) instanceof QueuePair queuePair) {
                assertThat(queuePair.toString()).contains(" closed ");
            }
        }
    }
}
