// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.QueuePairInitAttr;
import io.rdma4j.ibverbs.abi.Layout.SharedReceiveQueueInitAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AdviceFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.ScatterGatherElement;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.AbstractList;
import java.util.AbstractSet;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a program hands over, and changes while the library is called or later: it is read once. A second look would have the
 * library read what was not checked, or objects believe what is not so.
 */
class ChangedMeanwhileTest {
    private final FakeDriver driver = new FakeDriver();

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    // ---------------------------------------------------------------- attributes of new objects

    @Test
    void completionQueueIsAsItWasAskedForWhateverBecomesOfTheAttributes() throws Exception {
        NativeContext context = driver.open();
        try (CompletionChannel channel = CompletionChannel.create()) {
            CompletionQueueInitAttributes wanted = new CompletionQueueInitAttributes()
                    .channel(channel).userContext("first");
            ExtendedCompletionQueue queue = context.createExtendedCompletionQueue(wanted);
            wanted.channel(null).userContext("second")
                    .fields(CompletionField.COMPLETION_TIMESTAMP);
            assertThat(queue.channel()).isSameAs(channel);
            assertThat(queue.userContext()).isEqualTo("first");
            assertThat(queue.fields()).isEmpty();
            queue.requestNotification();
            assertThat(driver.armed()).isOne();
            queue.close();
        }
    }

    /** An {@code ibv_cq} is shorter than an {@code ibv_cq_ex}, whose functions would be looked for behind its end. */
    @Test
    void completionQueueWithoutTimesIsNotTakenForOneThatHasThem() throws RdmaException {
        CompletionQueueInitAttributes wanted = new CompletionQueueInitAttributes();
        driver.library.define(VerbsSymbol.CREATE_CQ, arguments -> {
            wanted.fields(CompletionField.COMPLETION_TIMESTAMP);
            return driver.object(Layout.CompletionQueue.SIZE);
        });
        CompletionQueue queue = driver.open().createCompletionQueue(wanted);
        assertThat(queue.poll(new WorkCompletion())).isFalse();
        queue.close();
    }

    @Test
    void queuePairIsOfTheTypeThatWasChecked() throws RdmaException {
        QueuePairInitAttributes wanted = new QueuePairInitAttributes()
                .capabilities(new QueuePairCapabilities(4, 4, 2, 2, 16));
        driver.library.define(VerbsSymbol.CREATE_QP, arguments -> {
            wanted.type(QueuePairType.UD).capabilities(new QueuePairCapabilities(9, 9, 9, 9, 9));
            return driver.object(Layout.QueuePair.SIZE);
        });
        NativeContext context = driver.open();
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(wanted.completionQueue(context.createCompletionQueue(16)));
        assertThat(queuePair.type()).isEqualTo(QueuePairType.RC);
        assertThat(queuePair.initAttributes().type()).isEqualTo(QueuePairType.RC);
        assertThat(queuePair.capabilities()).isEqualTo(new QueuePairCapabilities(4, 4, 2, 2, 16));
    }

    @Test
    void sharedReceiveQueueTakesAsManyElementsAsTheLibraryWasTold() throws RdmaException {
        SharedReceiveQueueInitAttributes wanted = new SharedReceiveQueueInitAttributes()
                .maxRequests(4);
        driver.library.define(VerbsSymbol.CREATE_SRQ, arguments -> {
            assertThat(Native.getInt(Native.at(arguments[1], 24),
                    SharedReceiveQueueInitAttr.MAX_SGE)).isOne();
            wanted.maxRequests(4).maxElements(9);
            return driver.object(128);
        });
        SharedReceiveQueue queue = driver.open().allocateProtectionDomain()
                .createSharedReceiveQueue(wanted);
        assertErrno(Errno.EINVAL,
                () -> queue.post(new ReceiveWorkRequest().add(0, 1, 0).add(0, 1, 0)));
        assertThat(driver.posts).isZero();
    }

    /** As a driver that is broken, or of another version, might. */
    @Test
    void sizesThatNoQueueHasAreNotBelieved() throws RdmaException {
        driver.library.define(VerbsSymbol.CREATE_QP, arguments -> {
            MemorySegment attributes = Native.at(arguments[1], QueuePairInitAttr.SIZE);
            for (int i = 0; i < 5; i++) {
                Native.putInt(attributes, QueuePairInitAttr.MAX_SEND_WR + (long) i * Integer.BYTES,
                        i % 2 == 0 ? Integer.MAX_VALUE : -1);
            }
            return driver.object(Layout.QueuePair.SIZE);
        });
        NativeContext context = driver.open();
        QueuePairCapabilities asked = new QueuePairCapabilities(4, 4, 2, 2, 16);
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(new QueuePairInitAttributes().capabilities(asked)
                        .completionQueue(context.createCompletionQueue(16)));
        assertThat(queuePair.capabilities()).isEqualTo(asked);
    }

    // ---------------------------------------------------------------- memory

    @Test
    void regionHasTheRightsThatTheLibraryWasTold() throws RdmaException {
        Set<AccessFlag> rights = EnumSet.noneOf(AccessFlag.class);
        driver.library.define(VerbsSymbol.REG_MR_IOVA2, arguments -> {
            rights.add(AccessFlag.REMOTE_READ);
            return driver.object(Layout.MemoryRegion.SIZE);
        });
        MemoryRegion region = driver.open().allocateProtectionDomain()
                .register(Arena.global().allocate(64), rights);
        assertThat(region.access()).isEmpty();
    }

    /** Rights that have something done when they are looked at, which another thread might do just then. */
    private static Set<AccessFlag> rightsThat(Runnable whenRead) {
        return new AbstractSet<>() {
            private boolean isRead;

            @Override
            public Iterator<AccessFlag> iterator() {
                if (!isRead) {
                    isRead = true;
                    whenRead.run();
                }
                return List.of(AccessFlag.LOCAL_WRITE).iterator();
            }

            @Override
            public int size() {
                return 1;
            }
        };
    }

    /** It would be of one memory for the device, and of another for who looks whether that is still there. */
    @Test
    void regionThatTwoThreadsChangeIsOfTheMemoryThatTheDeviceHasLast() throws RdmaException {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        ProtectionDomain other = context.allocateProtectionDomain();
        MemorySegment memory = Arena.global().allocate(128);
        MemoryRegion region = domain.register(Arena.global().allocate(64), Set.of());
        region.reregister(new MemoryRegionChanges().access(rightsThat(() -> {
            try {
                region.reregister(
                        new MemoryRegionChanges().segment(memory).protectionDomain(other));
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        })));
        assertThat(driver.called(VerbsSymbol.REREG_MR)).isEqualTo(2);
        assertThat(region.segment()).isEqualTo(memory);
        assertThat(region.length()).isEqualTo(128);
        assertThat(region.protectionDomain()).isSameAs(other);
        domain.close();
        assertErrno(Errno.EBUSY, other::close);
        region.close();
        other.close();
    }

    @Test
    void listOfElementsThatGrowsIsNotReadBeyondWhatWasWritten() throws RdmaException {
        int[] told = new int[1];
        driver.operation(ContextOperation.ADVISE_MR, arguments -> {
            told[0] = (int) arguments[4];
            return 0;
        });
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        MemoryRegion region = domain.register(Arena.global().allocate(64), Set.of());
        ScatterGatherElement element = new ScatterGatherElement(region.address(), 16,
                region.lkey());
        int[] looks = new int[1];
        domain.advise(MemoryAdvice.PREFETCH, new AbstractList<>() {
            @Override
            public ScatterGatherElement get(int index) {
                return element;
            }

            @Override
            public Object[] toArray() {
                return new Object[]{element};
            }

            // One in the calls before the list is written, if it is written without being copied.
            @Override
            public int size() {
                return ++looks[0] > 3 ? 1000 : 1;
            }
        }, AdviceFlag.FLUSH);
        assertThat(told[0]).isOne();
    }

    private interface Call {
        void run() throws RdmaException;
    }

    private static void assertErrno(Errno errno, Call call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call::run)
                .satisfies(e -> assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno));
    }
}
