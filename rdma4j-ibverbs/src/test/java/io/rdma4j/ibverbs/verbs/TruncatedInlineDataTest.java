// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Inline data in a mapped file that is cut short. Compiled code throws the error of such an access late, where a native
 * method returns: that must not be the call that posts.
 */
class TruncatedInlineDataTest {
    private static final int LENGTH = 16;
    /** After which the compiler has come to it. */
    private static final int WARM = 20_000;

    @TempDir
    private Path folder = Path.of("unset");
    private final FakeDriver driver = new FakeDriver();
    private final WorkCompletion completion = new WorkCompletion();
    private final Arena arena = Arena.ofShared();
    private FileChannel file;
    private MemorySegment mapped;
    private CompletionQueue queue;
    private ProtectionDomain domain;
    private QueuePair queuePair;

    private interface Operation {
        void run() throws RdmaException;
    }

    @BeforeEach
    void open() throws Exception {
        PromptDriver functions = new PromptDriver(driver);
        assertThat(functions.armed()).isZero();
        driver.operation(ContextOperation.QUERY_PORT, arguments -> 0);
        NativeContext context = driver.open();
        queue = context.createCompletionQueue(16);
        domain = context.allocateProtectionDomain();
        queuePair = domain.createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                .signalAll(true).sendOperations(SendOpcode.SEND)
                .capabilities(new QueuePairCapabilities(16, 16, 2, 2, LENGTH)));
        FakeDriver.ready(queuePair);
        file = FileChannel.open(folder.resolve("data"), StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ, StandardOpenOption.WRITE);
        mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 4096, arena);
    }

    @AfterEach
    void close() throws Exception {
        file.close();
        arena.close();
        driver.close();
    }

    /** The request whose data cannot be read is refused, and none is posted. */
    private void assertRefusedOnceTruncated(Operation post) throws Exception {
        for (int i = 0; i < WARM; i++) {
            post.run();
            assertThat(queue.poll(completion)).isTrue();
        }
        file.truncate(0);
        assertEfault(post::run);
        assertThat(queue.poll(completion)).as("something was posted").isFalse();
    }

    private static void assertEfault(ThrowingCallable post) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(post)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EFAULT));
    }

    @Test
    void bytesAreRefused() throws Exception {
        SendWorkRequest request = new SendWorkRequest().inline(mapped.asSlice(0, LENGTH))
                .set(SendFlag.SIGNALED);
        assertRefusedOnceTruncated(() -> queuePair.postSend(request));
    }

    @Test
    void elementsAreRefused() throws Exception {
        MemoryRegion region = domain.register(mapped, AccessFlag.LOCAL_WRITE);
        SendWorkRequest request = new SendWorkRequest().add(region, 0, LENGTH)
                .set(SendFlag.SIGNALED).set(SendFlag.INLINE);
        assertRefusedOnceTruncated(() -> queuePair.postSend(request));
        region.close();
    }

    @Test
    void bytesOfABatchAreRefused() throws Exception {
        MemorySegment bytes = mapped.asSlice(0, LENGTH);
        assertRefusedOnceTruncated(() -> {
            SendBatch batch = queuePair.startBatch();
            batch.send();
            batch.inline(bytes);
            batch.post();
        });
    }
}
