// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.work;

import io.rdma4j.spi.Outstanding;
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What is outstanding in a queue. */
class OutstandingWorkTest {
    private final OutstandingWork work = new OutstandingWork(4);

    private long post(boolean isSignaled) {
        long number = work.note(0, 7, WorkCompletionOpcode.SEND, isSignaled);
        work.commit(1);
        return number;
    }

    @Test
    void unsignaledWorkIsToldFromWorkThatWillComplete() {
        assertThat(work.outstanding()).isSameAs(Outstanding.NOTHING);
        post(false);
        assertThat(work.outstanding()).isSameAs(Outstanding.UNSIGNALED);
        long signaled = post(true);
        assertThat(work.outstanding()).isSameAs(Outstanding.COMPLETING);
        post(false);
        assertThat(work.outstanding()).isSameAs(Outstanding.COMPLETING);
        assertThat(work.complete(signaled, new WorkLedger.Completed())).isTrue();
        assertThat(work.outstanding()).isSameAs(Outstanding.UNSIGNALED);
    }

    @Test
    void slotsOfCompletedWorkDoNotCount() {
        for (int i = 0; i < 10; i++) {
            long signaled = post(true);
            assertThat(work.complete(signaled, new WorkLedger.Completed())).isTrue();
            assertThat(work.outstanding()).isSameAs(Outstanding.NOTHING);
        }
    }
}
