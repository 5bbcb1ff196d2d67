// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import io.rdma4j.ibverbs.abi.Layout.CompletionQueueEx;
import io.rdma4j.ibverbs.abi.Layout.Context;
import io.rdma4j.ibverbs.abi.Layout.QueuePairEx;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.Linker;

import static org.assertj.core.api.Assertions.assertThat;

/** Offsets are added up here, from the fields in front of a mutex, the mutex, and those behind it. */
class LayoutTest {
    private static final long MUTEX_OF_X86 = 40;
    private static final long MUTEX_OF_ARM = 48;
    /** {@code pthread_cond_t} of glibc. */
    private static final long CONDITION = 48;

    /** The offset of {@code abi_compat}. */
    private static long context(long mutex) {
        return 280 + mutex;
    }

    /** The size of {@code struct ibv_cq}. */
    private static long completionQueue(long mutex) {
        return 32 + mutex + CONDITION + 2 * Integer.BYTES;
    }

    /** The size of {@code struct ibv_qp}. */
    private static long queuePair(long mutex) {
        return 64 + mutex + CONDITION + Long.BYTES;
    }

    @ParameterizedTest
    @CsvSource({"amd64, true, 40", "ppc64le, true, 40", "s390x, true, 40", "riscv64, true, 40",
        "aarch64, true, 48", "amd64, false, 40", "aarch64, false, 40"})
    void eachProcessorHasItsMutex(String architecture, boolean isGlibc, long mutex) {
        assertThat(Mutex.of(architecture, isGlibc).behind(context(MUTEX_OF_X86)))
                .isEqualTo(context(mutex));
        assertThat(Mutex.of(architecture, isGlibc).behind(completionQueue(MUTEX_OF_X86)))
                .isEqualTo(completionQueue(mutex));
        assertThat(Mutex.of(architecture, isGlibc).behind(queuePair(MUTEX_OF_X86)))
                .isEqualTo(queuePair(mutex));
    }

    @Test
    void fieldsBehindAMutexAreWhereThisProcessorHasThem() {
        boolean isGlibc = Linker.nativeLinker().defaultLookup().find("gnu_get_libc_version")
                .isPresent();
        long mutex = isGlibc && System.getProperty("os.arch").equals("aarch64")
                ? MUTEX_OF_ARM
                : MUTEX_OF_X86;
        assertThat(Context.ABI_COMPAT).isEqualTo(context(mutex));
        assertThat(Context.SIZE).isEqualTo(context(mutex) + Long.BYTES);

        long mask = completionQueue(mutex);
        assertThat(CompletionQueueEx.STATUS).isEqualTo(mask + Integer.BYTES);
        assertThat(CompletionQueueEx.WR_ID).isEqualTo(mask + 2 * Integer.BYTES);
        assertThat(CompletionQueueEx.START_POLL).isEqualTo(mask + 16);
        assertThat(CompletionQueueEx.READ_COMPLETION_WALLCLOCK_NS).isEqualTo(mask + 16 + 17 * 8);
        assertThat(CompletionQueueEx.SIZE).isEqualTo(mask + 16 + 18 * 8);

        long extended = queuePair(mutex);
        assertThat(QueuePairEx.WR_ID).isEqualTo(extended + Long.BYTES);
        assertThat(QueuePairEx.WR_START).isEqualTo(extended + 24 + 17 * 8);
        assertThat(QueuePairEx.WR_FLUSH).isEqualTo(extended + 24 + 21 * 8);
        assertThat(QueuePairEx.SIZE).isEqualTo(extended + 24 + 22 * 8);
    }
}
