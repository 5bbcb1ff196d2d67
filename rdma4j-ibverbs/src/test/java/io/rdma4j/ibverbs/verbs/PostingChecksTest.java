// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.PortAttr;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Layout.WindowBind;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.memory.NativeMemoryRegion;
import io.rdma4j.ibverbs.memory.NativeMemoryWindow;
import io.rdma4j.ibverbs.queue.NativeQueuePair;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
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
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a driver is handed by a post: what was checked, whole, and nothing of what was posted before. */
class PostingChecksTest {
    private static final int NEW_KEY = 0x0403_0201;

    private final FakeDriver driver = new FakeDriver();
    private int mtu = Mtu.MTU_1024.code();

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    private static void assertErrno(Errno errno, ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call).satisfies(e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            assertThat(e.getMessage()).doesNotContain("\n");
        });
    }

    private QueuePair ready(NativeContext context, ProtectionDomain domain, QueuePairType type)
            throws RdmaException {
        QueuePair queuePair = create(context, domain, type);
        FakeDriver.ready(queuePair);
        return queuePair;
    }

    private static QueuePair create(NativeContext context, ProtectionDomain domain,
            QueuePairType type) throws RdmaException {
        CompletionQueue queue = context.createCompletionQueue(16);
        return domain.createQueuePair(new QueuePairInitAttributes().type(type)
                .completionQueue(queue)
                .capabilities(new QueuePairCapabilities(16, 4, 8, 2, 16)));
    }

    /** Has the driver offer windows. */
    private void offerWindows() {
        driver.operation(ContextOperation.ALLOC_MW,
                arguments -> driver.object(Layout.MemoryWindow.SIZE));
        driver.operation(ContextOperation.BIND_MW, arguments -> 0);
    }

    // ---------------------------------------------------------------- requests that change meanwhile

    /** Whatever a thread does to a request that another posts, the driver gets whole requests of the right sizes. */
    @Test
    void requestThatIsChangedWhileItIsPostedHasNoMoreElementsThanTheQueuePair() throws Exception {
        NativeContext context = driver.open();
        QueuePair queuePair = ready(context, context.allocateProtectionDomain(),
                QueuePairType.RC);
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicBoolean hasBegun = new AtomicBoolean();
        SendWorkRequest request = new SendWorkRequest();
        Thread changing = Thread.ofPlatform().start(() -> {
            while (!isOver.get()) {
                request.elements().clear();
                for (int i = 0; i < 64; i++) {
                    request.elements().add(0x1000, 1, 1);
                }
                hasBegun.set(true);
            }
        });
        Wait.until("the request is being changed", hasBegun::get);
        try {
            for (int i = 0; i < 20_000; i++) {
                postWhatItIs(queuePair, request);
                driver.posted.clear();
            }
        } finally {
            isOver.set(true);
            changing.join();
        }
    }

    private void postWhatItIs(QueuePair queuePair, SendWorkRequest request) {
        try {
            queuePair.postSend(request);
            int elements = Native.getInt(driver.posted.getFirst(), SendRequest.NUM_SGE);
            assertThat(elements).isBetween(0, queuePair.capabilities().maxSendElements());
        } catch (RdmaException | IndexOutOfBoundsException refused) {
            assertThat(driver.posted).isEmpty();
        }
    }

    // ---------------------------------------------------------------- what was left of others

    @Test
    void bindHasNothingOfTheImmediateThatWasPostedBeforeIt() throws RdmaException {
        offerWindows();
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain, QueuePairType.RC);
        MemoryRegion region = domain.register(Arena.global().allocate(64),
                AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND);
        MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        queuePair.postSend(new SendWorkRequest().sendWithImmediate(-1));
        queuePair.postSend(new SendWorkRequest().bind(window, NEW_KEY,
                new MemoryWindowBind(region, region.address() + 8, 16,
                        Set.of(AccessFlag.REMOTE_READ))));
        assertThat(Native.getInt(driver.posted.get(1), SendRequest.IMM_DATA)).isZero();
    }

    // ---------------------------------------------------------------- the layout of binding

    @Test
    void bindOfType2IsWrittenAsTheHeadersHaveIt() throws RdmaException {
        offerWindows();
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain, QueuePairType.RC);
        MemoryRegion region = domain.register(Arena.global().allocate(64),
                AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND);
        NativeMemoryWindow window = (NativeMemoryWindow) domain
                .allocateMemoryWindow(MemoryWindowType.TYPE_2);
        queuePair.postSend(new SendWorkRequest().bind(window, NEW_KEY,
                new MemoryWindowBind(region, region.address() + 8, 16,
                        Set.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE)))
                .set(SendFlag.SIGNALED));
        MemorySegment request = driver.posted.getFirst();
        assertThat(Native.getInt(request, SendRequest.OPCODE)).isEqualTo(8);
        assertThat(Native.getInt(request, SendRequest.NUM_SGE)).isZero();
        assertThat(Native.getInt(request, SendRequest.SEND_FLAGS)).isEqualTo(2);
        assertThat(Native.getLong(request, 80)).isEqualTo(window.pointer());
        assertThat(request.asSlice(88, 4).toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(1, 2, 3, 4);
        assertThat(Native.getLong(request, 96))
                .isEqualTo(((NativeMemoryRegion) region).pointer());
        assertThat(Native.getLong(request, 104)).isEqualTo(region.address() + 8);
        assertThat(Native.getLong(request, 112)).isEqualTo(16);
        assertThat(Native.getInt(request, 120)).isEqualTo(4 | 2);
        assertThat(window.rkey()).isEqualTo(NEW_KEY);
    }

    @Test
    void bindOfType1IsWrittenAsTheHeadersHaveIt() throws RdmaException {
        offerWindows();
        MemorySegment[] written = new MemorySegment[1];
        long[] pointers = new long[2];
        driver.operation(ContextOperation.BIND_MW, arguments -> {
            pointers[0] = arguments[0];
            pointers[1] = arguments[1];
            written[0] = driver.copy(arguments[2], WindowBind.SIZE);
            Native.putInt(Native.at(arguments[1], Layout.MemoryWindow.SIZE), 16, NEW_KEY);
            return 0;
        });
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain, QueuePairType.RC);
        MemoryRegion region = domain.register(Arena.global().allocate(64),
                AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND);
        NativeMemoryWindow window = (NativeMemoryWindow) domain
                .allocateMemoryWindow(MemoryWindowType.TYPE_1);
        queuePair.bindMemoryWindow(9, window, new MemoryWindowBind(region, region.address() + 8,
                16, Set.of(AccessFlag.REMOTE_READ)), SendFlag.SIGNALED);
        assertThat(pointers).containsExactly(((NativeQueuePair) queuePair).pointer(),
                window.pointer());
        assertThat(Native.getInt(written[0], 8)).isEqualTo(2);
        assertThat(Native.getLong(written[0], 16))
                .isEqualTo(((NativeMemoryRegion) region).pointer());
        assertThat(Native.getLong(written[0], 24)).isEqualTo(region.address() + 8);
        assertThat(Native.getLong(written[0], 32)).isEqualTo(16);
        assertThat(Native.getInt(written[0], 40)).isEqualTo(4);
        assertThat(window.rkey()).isEqualTo(NEW_KEY);
        assertErrno(Errno.EBUSY, region::close);
        driver.complete(Native.getLong(written[0], 0), 0, 5);
        io.rdma4j.verbs.WorkCompletion completion = new io.rdma4j.verbs.WorkCompletion();
        assertThat(queuePair.sendCompletionQueue().poll(completion)).isTrue();
        assertThat(completion.id()).isEqualTo(9);
    }

    // ---------------------------------------------------------------- binding where it is not allowed

    /** Drivers put the request into the send queue, whatever the queue pair can do and is about. */
    @Test
    void windowOfType1IsBoundOnlyWhereSendsCanBePosted() throws RdmaException {
        offerWindows();
        driver.operation(ContextOperation.BIND_MW, arguments -> {
            driver.posts++;
            return 0;
        });
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        MemoryRegion region = domain.register(Arena.global().allocate(64),
                AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND);
        MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        MemoryWindowBind bind = new MemoryWindowBind(region, region.address(), 16, Set.of());
        QueuePair idle = create(context, domain, QueuePairType.RC);
        assertErrno(Errno.EINVAL, () -> idle.bindMemoryWindow(1, window, bind, SendFlag.SIGNALED));
        QueuePair ofDatagrams = ready(context, domain, QueuePairType.UD);
        assertErrno(Errno.EINVAL,
                () -> ofDatagrams.bindMemoryWindow(1, window, bind, SendFlag.SIGNALED));
        assertThat(driver.posts).isZero();
    }

    // ---------------------------------------------------------------- the port's longest message

    private void offerPort() {
        driver.operation(ContextOperation.QUERY_PORT, arguments -> {
            MemorySegment attributes = Native.at(arguments[2], PortAttr.SIZE);
            Native.putInt(attributes, PortAttr.ACTIVE_MTU,
                    arguments[1] == 2 ? Mtu.MTU_4096.code() : mtu);
            return 0;
        });
    }

    private static SendWorkRequest datagram(AddressHandle path, long length) {
        return new SendWorkRequest().to(path, 1, 1).add(0x1000, length, 1);
    }

    @Test
    void datagramIsAsLongAsTheMtuOfThePortIsNow() throws RdmaException {
        offerPort();
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        AddressHandle path = domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0));
        QueuePair queuePair = ready(context, domain, QueuePairType.UD);
        assertErrno(Errno.EMSGSIZE, () -> queuePair.postSend(datagram(path, 2048)));
        mtu = Mtu.MTU_2048.code();
        queuePair.postSend(datagram(path, 2048));
        assertThat(driver.posted).hasSize(1);
    }

    @Test
    void datagramIsAsLongAsTheMtuOfTheQueuePairsPort() throws RdmaException {
        offerPort();
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        AddressHandle path = domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0));
        QueuePair queuePair = create(context, domain, QueuePairType.UD);
        toPort(queuePair, 2);
        queuePair.postSend(datagram(path, 4096));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        toPort(queuePair, 1);
        assertErrno(Errno.EMSGSIZE, () -> queuePair.postSend(datagram(path, 4096)));
    }

    private static void toPort(QueuePair queuePair, int port) throws RdmaException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0)
                .port(port).qkey(5));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1));
    }

    /** What a device has is asked for: some drivers of RoCE have an opcode table without atomics. */
    @Test
    void atomicsAreRefusedWhereTheDeviceHasNone() throws RdmaException {
        driver.atomics = 0;
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePairInitAttributes wanted = new QueuePairInitAttributes()
                .completionQueue(context.createCompletionQueue(4));
        QueuePair queuePair = domain.createQueuePair(wanted);
        FakeDriver.ready(queuePair);
        assertErrno(Errno.EOPNOTSUPP, () -> queuePair
                .postSend(new SendWorkRequest().compareAndSwap(0x1000, 1, 3, 4)));
        assertErrno(Errno.EOPNOTSUPP,
                () -> queuePair.postSend(new SendWorkRequest().fetchAndAdd(0x1000, 1, 3)));
        assertErrno(Errno.EOPNOTSUPP, () -> domain.createQueuePair(
                wanted.sendOperations(SendOpcode.SEND, SendOpcode.ATOMIC_FETCH_AND_ADD)));
        queuePair.postSend(new SendWorkRequest().send());
        assertThat(driver.posts).isOne();
    }
}
