// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.AddressHandleAttr;
import io.rdma4j.ibverbs.abi.Layout.PortAttr;
import io.rdma4j.ibverbs.abi.Layout.WorkCompletion;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.values.Paths;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletionFlag;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The way back to who has sent a datagram: by its global route, or within a subnet of InfiniBand by its LID. */
class PathBackTest {
    private static final int RECEIVED = 128;
    private static final int INFINIBAND = 1;
    private static final int ETHERNET = 2;
    private static final MemorySegment HEADER = MemorySegment
            .ofArray(new byte[AddressHandle.GLOBAL_ROUTE_LENGTH]);
    private static final AddressHandleAttributes PATH = new AddressHandleAttributes(Gid.ZERO, 0, 0,
            0, 0, 0x12, 3, 2, 0, false, 1);

    private final FakeDriver driver = new FakeDriver();
    /** The completion and the header that the library was given. */
    private final List<MemorySegment> given = new ArrayList<>();
    private int linkLayer = INFINIBAND;

    @BeforeEach
    void libraryFindsThePath() {
        driver.operation(ContextOperation.QUERY_PORT, arguments -> {
            Native.putByte(Native.at(arguments[2], PortAttr.SIZE), PortAttr.LINK_LAYER, linkLayer);
            return 0;
        });
        driver.library.define(VerbsSymbol.INIT_AH_FROM_WC, arguments -> {
            given.add(driver.copy(arguments[2], WorkCompletion.SIZE));
            given.add(driver.copy(arguments[3], HEADER.byteSize()));
            Paths.write(Native.at(arguments[4], AddressHandleAttr.SIZE), 0, PATH);
            return 0;
        });
    }

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    private static void assertRefused(ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
    }

    private io.rdma4j.verbs.WorkCompletion received(NativeContext context, int flags)
            throws RdmaException {
        CompletionQueue queue = context.createCompletionQueue(4);
        QueuePair queuePair = context.allocateProtectionDomain()
                .createQueuePair(new QueuePairInitAttributes().type(QueuePairType.UD)
                        .completionQueue(queue));
        FakeDriver.ready(queuePair);
        queuePair.postReceive(new ReceiveWorkRequest());
        MemorySegment completion = driver.complete(
                Native.getLong(driver.posted.getLast(), WorkCompletion.WR_ID), 0, RECEIVED);
        Native.putInt(completion, WorkCompletion.WC_FLAGS, flags);
        Native.putInt(completion, WorkCompletion.SRC_QP, 0x77);
        Native.putShort(completion, WorkCompletion.SLID, 0x12);
        Native.putByte(completion, WorkCompletion.SL, 3);
        Native.putByte(completion, WorkCompletion.DLID_PATH_BITS, 2);
        io.rdma4j.verbs.WorkCompletion found = new io.rdma4j.verbs.WorkCompletion();
        assertThat(queue.poll(found)).isTrue();
        return found;
    }

    @Test
    void datagramOfASubnetGoesBackByItsLid() throws RdmaException {
        NativeContext context = driver.open();
        assertThat(context.pathBack(1, received(context, 0), MemorySegment.ofArray(new byte[0])))
                .isEqualTo(PATH);
        MemorySegment completion = given.getFirst();
        assertThat(Native.getInt(completion, WorkCompletion.WC_FLAGS)).isZero();
        assertThat(Native.getInt(completion, WorkCompletion.SRC_QP)).isEqualTo(0x77);
        assertThat(Native.getShort(completion, WorkCompletion.SLID)).isEqualTo(0x12);
        assertThat(Native.getByte(completion, WorkCompletion.SL)).isEqualTo(3);
        assertThat(Native.getByte(completion, WorkCompletion.DLID_PATH_BITS)).isEqualTo(2);
    }

    @Test
    void headerIsHandedOnWhereThereIsOne() throws RdmaException {
        NativeContext context = driver.open();
        MemorySegment header = MemorySegment.ofArray(new byte[AddressHandle.GLOBAL_ROUTE_LENGTH])
                .fill((byte) 0x60);
        context.pathBack(1, received(context, WorkCompletionFlag.GRH.bit()), header);
        assertThat(Native.getInt(given.getFirst(), WorkCompletion.WC_FLAGS))
                .isEqualTo(WorkCompletionFlag.GRH.bit());
        assertThat(given.getLast().mismatch(header)).isEqualTo(-1);
    }

    /** RoCE has no LIDs, and a header that is cut short is none. */
    @Test
    void datagramWithoutAHeaderHasNoPathBackOnEthernet() throws RdmaException {
        linkLayer = ETHERNET;
        NativeContext context = driver.open();
        assertRefused(() -> context.pathBack(1, received(context, 0), HEADER));
        assertRefused(() -> context.pathBack(1,
                received(context, WorkCompletionFlag.GRH.bit()), HEADER.asSlice(1)));
        assertThat(given).isEmpty();
    }
}
