// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class LoneThreadTest {
    private static final long SETTLED = 10;
    private static final long FORGOTTEN = 100;

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 15, -5})
    void isTheOnlyOneForSomeTime(long startNs) {
        LoneThread lone = new LoneThread(SETTLED, FORGOTTEN);
        assertThat(lone.isThere(startNs + 50)).as("nothing has happened").isFalse();
        lone.note(startNs);
        assertThat(lone.isCaller(startNs + SETTLED)).isFalse();
        lone.note(startNs + SETTLED);
        assertThat(lone.isCaller(startNs + SETTLED + 1)).isTrue();
        assertThat(lone.isThere(startNs + SETTLED + 1)).isTrue();
    }

    @Test
    void isForgotten() {
        LoneThread lone = new LoneThread(SETTLED, FORGOTTEN);
        lone.note(0);
        assertThat(lone.isCaller(FORGOTTEN - 1)).isTrue();
        assertThat(lone.isThere(FORGOTTEN)).isFalse();
        assertThat(lone.isCaller(FORGOTTEN)).isFalse();
        lone.note(FORGOTTEN);
        assertThat(lone.isCaller(FORGOTTEN)).isTrue();
    }

    @Test
    void wasItAMomentAgo() {
        LoneThread lone = new LoneThread(SETTLED, FORGOTTEN);
        lone.note(0);
        lone.note(20);
        assertThat(lone.isCaller(24, 5)).isTrue();
        assertThat(lone.isCaller(25, 5)).isFalse();
    }

    @Test
    void isNotThereWhileThereAreTwo() throws Exception {
        LoneThread lone = new LoneThread(SETTLED, FORGOTTEN);
        lone.note(0);
        noteAnother(lone, 20);
        assertThat(lone.isThere(25)).isFalse();
        lone.note(30);
        assertThat(lone.isThere(35)).isFalse();
        assertThat(lone.isCaller(35)).isFalse();
    }

    @Test
    void mayBeAnother() throws Exception {
        LoneThread lone = new LoneThread(SETTLED, FORGOTTEN);
        noteAnother(lone, 0);
        assertThat(lone.isThere(20)).isTrue();
        assertThat(lone.isCaller(20)).isFalse();
    }

    @Test
    void startsAgain() {
        LoneThread lone = new LoneThread(SETTLED, FORGOTTEN);
        lone.note(20);
        lone.startAgain(20);
        assertThat(lone.isCaller(20 + SETTLED)).isFalse();
        assertThat(lone.isCaller(20 + SETTLED + 1)).isTrue();
    }

    private static void noteAnother(LoneThread lone, long nowNs) throws InterruptedException {
        Thread.ofPlatform().start(() -> lone.note(nowNs)).join();
    }
}
