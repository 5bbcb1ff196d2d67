// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.SharedReceiveQueueInitAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Objects that the library has made, and that cannot be made here: they are freed, or what they need never is. */
class HalfMadeTest {
    private final FakeDriver driver = new FakeDriver();

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    @Test
    void queuePairWhosePortCannotBeAskedIsFreed() throws RdmaException {
        driver.operation(ContextOperation.QUERY_PORT, arguments -> Errno.EIO.number());
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue queue = context.createCompletionQueue(4);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> domain.createQueuePair(
                        new QueuePairInitAttributes().completionQueue(queue)))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
        assertThat(driver.called(VerbsSymbol.DESTROY_QP)).isOne();
        queue.close();
        domain.close();
        context.close();
    }

    @Test
    void sharedReceiveQueueThatNoMemoryIsLeftForIsFreed() throws RdmaException {
        driver.library.define(VerbsSymbol.CREATE_SRQ, arguments -> {
            Native.putInt(Native.at(arguments[1], 24), SharedReceiveQueueInitAttr.MAX_WR,
                    Integer.MAX_VALUE);
            return driver.object(128);
        });
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> domain.createSharedReceiveQueue(
                        new SharedReceiveQueueInitAttributes().maxRequests(4)))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
        assertThat(driver.called(VerbsSymbol.DESTROY_SRQ)).isOne();
        domain.close();
        context.close();
    }
}
