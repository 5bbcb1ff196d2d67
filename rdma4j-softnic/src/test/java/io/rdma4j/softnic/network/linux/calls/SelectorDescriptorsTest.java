// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

/** The descriptors of the JDK's selectors, and waits for them. */
@EnabledOnOs(OS.LINUX)
class SelectorDescriptorsTest {
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(20);

    private final Arena arena = Arena.ofShared();
    private final SocketPoller poller = new SocketPoller(arena);
    private final List<Selector> selectors = new ArrayList<>();

    SelectorDescriptorsTest() throws Exception {}

    @AfterEach
    void close() throws IOException {
        for (Selector each : selectors) {
            each.close();
        }
        poller.close();
        arena.close();
    }

    private Selector open() throws IOException {
        Selector selector = Selector.open();
        selectors.add(selector);
        return selector;
    }

    /** {@return its descriptor, asked for as by a thread that selects before each wait} */
    private static int find(Selector selector) throws IOException {
        int found = -1;
        for (int i = 0; i < 16 && found < 0; i++) {
            selector.selectNow();
            found = SelectorDescriptors.find(selector);
        }
        return found;
    }

    private boolean hasSomething(int descriptor) {
        poller.awaitAlso(descriptor);
        return poller.endAlso();
    }

    @Test
    void eachSelectorHasItsOwn() throws Exception {
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            found.add(find(open()));
        }
        assertThat(found).doesNotHaveDuplicates().allMatch(each -> each > 2);
        for (Selector each : selectors) {
            each.selectNow();
        }
        for (int i = 0; i < found.size(); i++) {
            Selector selector = selectors.get(i);
            assertThat(hasSomething(found.get(i))).isFalse();
            selector.wakeup();
            for (int j = 0; j < found.size(); j++) {
                assertThat(hasSomething(found.get(j))).isEqualTo(i == j);
            }
            selector.selectNow();
            assertThat(SelectorDescriptors.find(selector)).isEqualTo(found.get(i));
            assertThat(hasSomething(found.get(i))).as("once known, it is left alone").isFalse();
        }
    }

    @Test
    void itHasSomethingWhileAKeyIsReady() throws Exception {
        Selector selector = open();
        Pipe pipe = Pipe.open();
        pipe.source().configureBlocking(false);
        SelectionKey key = pipe.source().register(selector, SelectionKey.OP_READ);
        int descriptor = find(selector);
        selector.selectNow();
        assertThat(hasSomething(descriptor)).isFalse();
        pipe.sink().write(ByteBuffer.allocate(1));
        assertThat(hasSomething(descriptor)).isTrue();
        assertThat(selector.selectNow()).isOne();
        assertThat(hasSomething(descriptor)).isTrue();
        assertThat(pipe.source().read(ByteBuffer.allocate(9))).isOne();
        assertThat(hasSomething(descriptor)).isFalse();
        key.cancel();
        pipe.sink().close();
        pipe.source().close();
    }

    /** Its wake-up cannot be told from what it has anyway: after some trials it is left alone. */
    @Test
    void selectorThatAlwaysHasSomethingIsNotKnown() throws Exception {
        Selector selector = open();
        for (int i = 0; i < 100; i++) {
            selector.wakeup();
            assertThat(SelectorDescriptors.find(selector)).isNegative();
        }
        selector.selectNow();
        assertThat(SelectorDescriptors.find(selector)).isNegative();
        assertThat(selector.select(1)).isZero();
    }

    /** They are written to at the same time, again and again. */
    @Test
    void otherSelectorsAreNotTakenForIt() throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Selector other = open();
            threads.add(Thread.ofPlatform().start(() -> {
                while (!isOver.get()) {
                    other.wakeup();
                    try {
                        other.selectNow();
                    } catch (IOException e) {
                        return;
                    }
                }
            }));
        }
        for (int i = 0; i < 20; i++) {
            Selector selector = open();
            int found = find(selector);
            if (found >= 0) {
                selector.selectNow();
                for (int j = 0; j < 100; j++) {
                    assertThat(hasSomething(found)).isFalse();
                }
                selector.wakeup();
                assertThat(hasSomething(found)).isTrue();
            }
        }
        isOver.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Test
    void waitEndsByTheSelectorAndByEachOther() throws Exception {
        Selector selector = open();
        int descriptor = find(selector);
        selector.selectNow();
        for (int i = 0; i < 100; i++) {
            boolean isSelector = i % 2 == 0;
            Thread other = Thread.ofPlatform().start(() -> {
                if (isSelector) {
                    selector.wakeup();
                } else {
                    poller.wake();
                }
            });
            poller.awaitAlso(descriptor);
            assertThat(poller.await(LONG_NS)).isEqualTo(!isSelector);
            assertThat(poller.endAlso()).isEqualTo(isSelector);
            other.join();
            selector.selectNow();
        }
        // It does not end the next wait, which is for nothing else.
        selector.wakeup();
        assertThat(poller.await(1)).isFalse();
    }
}
