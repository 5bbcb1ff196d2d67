// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.testkit.Wait;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelectionKey;
import java.nio.channels.spi.AbstractSelector;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/** A thread lets a channel of the JDK's go, for which it looks into the inner selector, while another one selects and a third one wakes that. */
@Timeout(60)
class ReleasedChannelTest {
    private static final class Behind extends AbstractSelectableChannel {
        Behind() throws IOException {
            super(RdmaSelectorProvider.INSTANCE);
            configureBlocking(false);
        }

        @Override
        public int validOps() {
            return SelectionKey.OP_READ;
        }

        @Override
        protected void implConfigureBlocking(boolean isBlocking) {}

        @Override
        protected void implCloseSelectableChannel() {}
    }

    /** A channel that stands before one of the JDK's. */
    private static final class Front extends BareChannel {
        private final Behind behind = new Behind();
        private final ChannelReadiness readiness = new ChannelReadiness() {
            @Override
            int readyOps(int operations) {
                return 0;
            }

            @Override
            SelectableChannel delegate() {
                return behind;
            }
        };

        Front() throws IOException {
            configureBlocking(false);
        }

        @Override
        public ChannelReadiness readiness() {
            return readiness;
        }

        @Override
        protected void implConfigureBlocking(boolean isBlocking) throws IOException {
            readiness.releaseDelegate();
            behind.configureBlocking(isBlocking);
        }

        @Override
        protected void implCloseSelectableChannel() throws IOException {
            behind.close();
        }
    }

    /** Waits and is woken as a selector of the JDK's. Its keys have no descriptors. */
    private static final class Inner extends AbstractSelector {
        private final Selector real = JdkProvider.provider().openSelector();
        private volatile Runnable onLook = () -> {};

        Inner() throws IOException {
            super(RdmaSelectorProvider.INSTANCE);
        }

        private final class Key extends AbstractSelectionKey {
            private final SelectableChannel channel;
            private volatile int interest;

            Key(SelectableChannel channel, int interest) {
                this.channel = channel;
                this.interest = interest;
            }

            @Override
            public SelectableChannel channel() {
                return channel;
            }

            @Override
            public Selector selector() {
                return Inner.this;
            }

            @Override
            public int interestOps() {
                return interest;
            }

            @Override
            public SelectionKey interestOps(int operations) {
                interest = operations;
                return this;
            }

            @Override
            public int readyOps() {
                return 0;
            }
        }

        @Override
        protected SelectionKey register(AbstractSelectableChannel channel, int operations,
                @Nullable Object attachment) {
            Key key = new Key(channel, operations);
            key.attach(attachment);
            return key;
        }

        private void deregisterCancelled() {
            Set<SelectionKey> cancelled = cancelledKeys();
            synchronized (cancelled) {
                cancelled.forEach(key -> deregister((AbstractSelectionKey) key));
                cancelled.clear();
            }
        }

        @Override
        public Set<SelectionKey> keys() {
            return real.keys();
        }

        @Override
        public Set<SelectionKey> selectedKeys() {
            return real.selectedKeys();
        }

        @Override
        public int selectNow() throws IOException {
            return selectNow(_ -> {});
        }

        @Override
        public int selectNow(Consumer<SelectionKey> action) throws IOException {
            onLook.run();
            deregisterCancelled();
            return real.selectNow(action);
        }

        @Override
        public int select() throws IOException {
            return real.select();
        }

        @Override
        public int select(long timeoutMs) throws IOException {
            return real.select(timeoutMs);
        }

        @Override
        public int select(Consumer<SelectionKey> action, long timeoutMs) throws IOException {
            return real.select(action, timeoutMs);
        }

        @Override
        public Selector wakeup() {
            real.wakeup();
            return this;
        }

        @Override
        protected void implCloseSelector() throws IOException {
            real.close();
        }
    }

    private static boolean isIn(Thread thread, String method) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(each -> each.getMethodName().equals(method));
    }

    @Test
    void wakeUpReachesTheThreadThatSelects() throws Exception {
        Inner inner = new Inner();
        Selector selector = new RdmaSelector(RdmaSelectorProvider.INSTANCE, () -> inner);
        Front stays = new Front();
        Front goes = new Front();
        stays.register(selector, SelectionKey.OP_READ);
        SelectionKey gone = goes.register(selector, SelectionKey.OP_READ);
        assertThat(selector.selectNow()).isZero();
        OneSelection selecting = OneSelection.waiting(selector);
        CountDownLatch hasGate = new CountDownLatch(1);
        CountDownLatch mayLook = new CountDownLatch(1);
        Thread releasing = Thread.ofPlatform().daemon().unstarted(() -> {
            try {
                gone.cancel();
                goes.configureBlocking(true);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        inner.onLook = () -> {
            if (Thread.currentThread().equals(releasing)) {
                hasGate.countDown();
                try {
                    mayLook.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        releasing.start();
        hasGate.await();
        Wait.until("it waits to be let in again",
                () -> isIn(selecting.thread(), "enter")
                        && selecting.thread().getState() == Thread.State.WAITING);
        selector.wakeup();
        mayLook.countDown();
        releasing.join();
        selecting.assertFinds(0);
        selector.close();
        stays.close();
        goes.close();
    }
}
