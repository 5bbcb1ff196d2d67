// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** What one thread does with a selector: one of channels over RDMA returns and throws what one over TCP does. */
@Timeout(60)
class SelectorContractTest {
    private static final int READ = SelectionKey.OP_READ;
    private static final int WRITE = SelectionKey.OP_WRITE;

    /** A selector, and a connection whose first channel does not block. */
    private record Scene(Transport transport, Selector selector, ServerSocketChannel listener,
            SocketChannel channel, SocketChannel peer) implements AutoCloseable {
        static Scene over(Transport transport) throws IOException {
            ServerSocketChannel listener = transport.listen();
            Connected pair = Connected.with(transport, listener);
            pair.channel().configureBlocking(false);
            return new Scene(transport, transport.openSelector(), listener, pair.channel(),
                    pair.peer());
        }

        SelectionKey register(int operations) throws IOException {
            return channel.register(selector, operations);
        }

        /** The peer writes, and the bytes have come. */
        void receive(int count) throws IOException {
            peer.write(ByteBuffer.allocate(count));
            try (Selector other = transport.openSelector()) {
                SelectionKey key = channel.register(other, READ);
                assertThat(other.select()).isOne();
                key.cancel();
                other.selectNow();
            }
        }

        int read() throws IOException {
            return channel.read(ByteBuffer.allocate(100));
        }

        @Override
        public void close() throws IOException {
            selector.close();
            channel.close();
            peer.close();
            listener.close();
        }
    }

    /** What is done, and what can be seen of it. */
    private interface Script {
        Object run(Scene scene) throws Exception;
    }

    private static final Map<String, Script> SCRIPTS = new LinkedHashMap<>();
    /** The ways to select. */
    private static final Map<String, Script> WAYS = new LinkedHashMap<>();

    private static String seen(Script script, Scene scene) {
        try {
            return String.valueOf(script.run(scene));
        } catch (Exception e) {
            return e.getClass().getName();
        }
    }

    private static String of(SelectionKey key) {
        return key.isValid()
                ? key.interestOps() + "/" + key.readyOps()
                : "invalid";
    }

    private static String sets(Selector selector) {
        return selector.keys().size() + " keys, " + selector.selectedKeys().size() + " selected";
    }

    private static void count(SelectionKey key, StringBuilder into) {
        into.append(of(key)).append(' ');
    }

    static {
        WAYS.put("select", scene -> scene.selector().select());
        WAYS.put("select at once", scene -> scene.selector().selectNow());
        WAYS.put("select with a time", scene -> scene.selector().select(5000));
        WAYS.put("select with an action", scene -> {
            StringBuilder acted = new StringBuilder();
            return scene.selector().select(key -> count(key, acted)) + ": " + acted;
        });
        WAYS.put("select at once with an action", scene -> {
            StringBuilder acted = new StringBuilder();
            return scene.selector().selectNow(key -> count(key, acted)) + ": " + acted;
        });
        WAYS.put("select with an action and a time", scene -> {
            StringBuilder acted = new StringBuilder();
            return scene.selector().select(key -> count(key, acted), 5000) + ": " + acted;
        });
        SCRIPTS.put("nothing is registered", scene -> scene.selector().selectNow() + " "
                + scene.selector().select(1) + " " + sets(scene.selector()));
        SCRIPTS.put("nothing is ready", scene -> {
            SelectionKey key = scene.register(READ);
            return scene.selector().selectNow() + " " + scene.selector().select(2) + " "
                    + of(key) + sets(scene.selector());
        });
        SCRIPTS.put("no interest", scene -> {
            SelectionKey key = scene.register(0);
            scene.receive(1);
            return scene.selector().selectNow() + of(key);
        });
        SCRIPTS.put("key", scene -> {
            SelectionKey key = scene.channel().register(scene.selector(), READ, "attached");
            return key.channel().equals(scene.channel()) + " "
                    + key.selector().equals(scene.selector())
                    + key.attachment() + key.attach(null) + key.attachment()
                    + key.equals(scene.channel().keyFor(scene.selector()))
                    + scene.channel().isRegistered() + of(key)
                    + scene.selector().keys().contains(key);
        });
        SCRIPTS.put("registered twice", scene -> {
            SelectionKey key = scene.register(READ);
            SelectionKey again = scene.channel().register(scene.selector(), WRITE, "b");
            return key.equals(again) + of(key) + key.attachment() + scene.selector().selectNow()
                    + of(key);
        });
        SCRIPTS.put("registered with two selectors", scene -> {
            try (Selector other = scene.transport().openSelector()) {
                SelectionKey first = scene.register(READ);
                SelectionKey second = scene.channel().register(other, READ | WRITE);
                scene.receive(3);
                String ready = scene.selector().select() + of(first) + other.select()
                        + of(second);
                first.cancel();
                return ready + scene.selector().selectNow() + other.selectNow()
                        + scene.channel().isRegistered() + of(second);
            }
        });
        SCRIPTS.put("registered while it blocks", scene -> {
            scene.channel().configureBlocking(true);
            return scene.register(READ);
        });
        SCRIPTS.put("blocks while it is registered", scene -> {
            scene.register(READ);
            return scene.channel().configureBlocking(true);
        });
        SCRIPTS.put("operation of listeners", scene -> scene.register(SelectionKey.OP_ACCEPT));
        SCRIPTS.put("interest of listeners",
                scene -> scene.register(READ).interestOps(SelectionKey.OP_ACCEPT));
        SCRIPTS.put("interest of no kind", scene -> scene.register(READ).interestOpsOr(2));
        SCRIPTS.put("closed channel", scene -> {
            scene.channel().close();
            return scene.register(READ);
        });
        SCRIPTS.put("closed selector", scene -> {
            scene.selector().close();
            return scene.register(READ);
        });
        SCRIPTS.put("interest changes", scene -> {
            SelectionKey key = scene.register(0);
            String changes = key.interestOpsOr(READ) + of(key) + key.interestOpsOr(WRITE)
                    + of(key) + key.interestOpsAnd(~READ) + of(key);
            return changes + scene.selector().selectNow() + of(key)
                    + of(key.interestOps(READ)) + scene.selector().selectNow() + of(key);
        });
        SCRIPTS.put("is ready as long as bytes are there", scene -> {
            SelectionKey key = scene.register(READ);
            scene.receive(150);
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < 3; i++) {
                all.append(scene.selector().selectNow()).append(of(key));
                all.append(scene.selector().selectedKeys().remove(key));
                all.append(scene.read()).append(' ');
            }
            return all;
        });
        SCRIPTS.put("selected already", scene -> {
            SelectionKey key = scene.register(READ);
            scene.receive(1);
            String first = scene.selector().select() + " " + scene.selector().select() + " "
                    + scene.selector().select(1000) + of(key) + sets(scene.selector());
            key.interestOps(READ | WRITE);
            return first + scene.selector().select() + of(key);
        });
        SCRIPTS.put("ready set is kept while selected", scene -> {
            SelectionKey key = scene.register(READ);
            scene.receive(1);
            scene.selector().select();
            scene.read();
            String kept = scene.selector().selectNow() + of(key);
            key.interestOps(WRITE);
            return kept + scene.selector().selectNow() + of(key);
        });
        SCRIPTS.put("ready set is replaced otherwise", scene -> {
            SelectionKey key = scene.register(READ);
            scene.receive(1);
            scene.selector().select();
            scene.read();
            scene.selector().selectedKeys().clear();
            key.interestOps(WRITE);
            return scene.selector().selectNow() + of(key) + sets(scene.selector());
        });
        SCRIPTS.put("both at once", scene -> {
            SelectionKey key = scene.register(READ | WRITE);
            scene.receive(1);
            return scene.selector().select() + of(key) + key.isReadable() + key.isWritable()
                    + key.isConnectable() + key.isAcceptable();
        });
        SCRIPTS.put("selected keys can be removed alone", scene -> {
            SelectionKey key = scene.register(WRITE);
            scene.selector().select();
            Iterator<SelectionKey> keys = scene.selector().selectedKeys().iterator();
            keys.next();
            keys.remove();
            return scene.selector().selectedKeys().add(key);
        });
        SCRIPTS.put("keys cannot be removed", scene -> {
            SelectionKey key = scene.register(WRITE);
            return scene.selector().keys().remove(key);
        });
        SCRIPTS.put("keys cannot be added", scene -> scene.selector().keys().add(null));
        SCRIPTS.put("keys of a closed selector", scene -> {
            scene.selector().close();
            return scene.selector().keys();
        });
        SCRIPTS.put("selected keys of a closed selector", scene -> {
            scene.selector().close();
            return scene.selector().selectedKeys();
        });
        for (Map.Entry<String, Script> way : WAYS.entrySet()) {
            SCRIPTS.put("closed, " + way.getKey(), scene -> {
                scene.register(READ);
                scene.selector().close();
                return way.getValue().run(scene);
            });
            SCRIPTS.put("woken before, " + way.getKey(), scene -> {
                scene.register(READ);
                scene.selector().wakeup().wakeup();
                return way.getValue().run(scene) + " " + scene.selector().selectNow()
                        + scene.selector().select(1);
            });
            SCRIPTS.put("woken and ready, " + way.getKey(), scene -> {
                SelectionKey key = scene.register(WRITE);
                scene.selector().wakeup();
                return way.getValue().run(scene) + of(key);
            });
            SCRIPTS.put("interrupted before, " + way.getKey(), scene -> {
                SelectionKey key = scene.register(READ);
                Thread.currentThread().interrupt();
                Object result;
                try {
                    result = way.getValue().run(scene);
                } finally {
                    assertThat(Thread.interrupted()).isTrue();
                }
                return result + of(key) + scene.selector().isOpen() + scene.channel().isOpen();
            });
            SCRIPTS.put("ready, " + way.getKey(), scene -> {
                SelectionKey key = scene.register(READ);
                scene.receive(1);
                return way.getValue().run(scene) + of(key) + sets(scene.selector());
            });
        }
        SCRIPTS.put("negative time", scene -> scene.selector().select(-1));
        SCRIPTS.put("negative time, with an action",
                scene -> scene.selector().select(key -> {}, -1));
        SCRIPTS.put("no action", scene -> scene.selector().select(null));
        SCRIPTS.put("no action, at once", scene -> scene.selector().selectNow(null));
        SCRIPTS.put("no action, with a time", scene -> scene.selector().select(null, 1));
        SCRIPTS.put("action that selects", scene -> {
            scene.register(WRITE);
            return scene.selector().select(key -> seen(each -> each.selector().selectNow(),
                    scene));
        });
        SCRIPTS.put("action that selects throws", scene -> {
            scene.register(WRITE);
            List<String> all = new ArrayList<>();
            scene.selector().select(key -> all.add(seen(each -> each.selector().selectNow(),
                    scene)));
            return all;
        });
        SCRIPTS.put("action that closes the selector", scene -> {
            scene.register(WRITE);
            return scene.selector().select(key -> seen(each -> {
                each.selector().close();
                return 0;
            }, scene));
        });
        SCRIPTS.put("action that throws", scene -> {
            scene.register(WRITE);
            return seen(each -> each.selector().select(key -> {
                throw new IllegalStateException("by the action");
            }), scene) + scene.selector().selectNow(key -> {}) + scene.selector().select();
        });
        SCRIPTS.put("action that cancels", scene -> {
            SelectionKey key = scene.register(WRITE);
            return scene.selector().select(SelectionKey::cancel) + of(key)
                    + sets(scene.selector()) + scene.selector().selectNow()
                    + sets(scene.selector());
        });
        SCRIPTS.put("cancelled", scene -> {
            SelectionKey key = scene.register(READ);
            scene.receive(1);
            key.cancel();
            key.cancel();
            String before = of(key) + scene.channel().isRegistered() + sets(scene.selector());
            return before + scene.selector().selectNow() + scene.channel().isRegistered()
                    + sets(scene.selector()) + scene.channel().keyFor(scene.selector());
        });
        SCRIPTS.put("cancelled while selected", scene -> {
            SelectionKey key = scene.register(WRITE);
            scene.selector().select();
            key.cancel();
            return sets(scene.selector()) + scene.selector().selectNow()
                    + sets(scene.selector());
        });
        SCRIPTS.put("interest of a cancelled key", scene -> {
            SelectionKey key = scene.register(READ);
            key.cancel();
            return key.interestOps();
        });
        SCRIPTS.put("new interest of a cancelled key", scene -> {
            SelectionKey key = scene.register(READ);
            key.cancel();
            return key.interestOps(WRITE);
        });
        SCRIPTS.put("ready set of a cancelled key", scene -> {
            SelectionKey key = scene.register(READ);
            key.cancel();
            return key.isReadable();
        });
        SCRIPTS.put("registered again too early", scene -> {
            scene.register(READ).cancel();
            return scene.register(READ);
        });
        SCRIPTS.put("cancelled, blocking, and registered again, as HttpServer does", scene -> {
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < 3; i++) {
                SelectionKey key = scene.register(READ);
                scene.receive(2);
                all.append(scene.selector().select()).append(of(key));
                key.cancel();
                scene.channel().configureBlocking(true);
                all.append(scene.read());
                scene.channel().configureBlocking(false);
                all.append(scene.selector().selectNow()).append(sets(scene.selector()));
            }
            return all;
        });
        SCRIPTS.put("channel closed while registered", scene -> {
            SelectionKey key = scene.register(READ);
            scene.channel().close();
            String before = of(key) + sets(scene.selector());
            return before + scene.selector().selectNow() + sets(scene.selector())
                    + scene.peer().read(ByteBuffer.allocate(1));
        });
        SCRIPTS.put("selector closed", scene -> {
            SelectionKey key = scene.register(READ);
            scene.selector().close();
            scene.selector().close();
            return of(key) + scene.channel().isRegistered() + scene.channel().isOpen()
                    + scene.selector().isOpen() + scene.selector().wakeup().isOpen();
        });
        SCRIPTS.put("end of the stream", scene -> {
            SelectionKey key = scene.register(READ);
            scene.peer().shutdownOutput();
            String ready = scene.selector().select() + of(key);
            scene.selector().selectedKeys().clear();
            return ready + scene.read() + scene.selector().select() + of(key);
        });
        SCRIPTS.put("peer closed", scene -> {
            SelectionKey key = scene.register(READ);
            scene.peer().close();
            return scene.selector().select() + of(key) + scene.read();
        });
        SCRIPTS.put("input shut", scene -> {
            SelectionKey key = scene.register(READ);
            scene.channel().shutdownInput();
            return scene.selector().select() + of(key) + scene.read();
        });
        SCRIPTS.put("output shut", scene -> {
            SelectionKey key = scene.register(WRITE);
            scene.channel().shutdownOutput();
            return scene.selector().select() + of(key);
        });
        SCRIPTS.put("full, then not", SelectorContractTest::fill);
        SCRIPTS.put("accepting", SelectorContractTest::accept);
        SCRIPTS.put("connecting", SelectorContractTest::connect);
        SCRIPTS.put("refused", SelectorContractTest::refuse);
    }

    private static Object fill(Scene scene) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(50_000_000);
        SelectionKey key = scene.register(WRITE);
        long[] received = {0};
        while (scene.selector().select(100) > 0) {
            scene.selector().selectedKeys().clear();
            scene.channel().write(buffer);
        }
        String full = of(key);
        Thread reader = Thread.ofPlatform().start(() -> {
            try {
                while (received[0] < buffer.limit()) {
                    received[0] += scene.peer().read(ByteBuffer.allocate(1 << 20));
                }
            } catch (IOException e) {
                received[0] = -1;
            }
        });
        while (buffer.hasRemaining()) {
            scene.selector().select();
            scene.selector().selectedKeys().clear();
            scene.channel().write(buffer);
        }
        Wait.until("everything has come", () -> !reader.isAlive());
        return full + received[0] + scene.selector().select() + of(key);
    }

    private static Object accept(Scene scene) throws IOException {
        scene.listener().configureBlocking(false);
        SelectionKey key = scene.listener().register(scene.selector(), SelectionKey.OP_ACCEPT);
        String all = scene.selector().selectNow() + of(key);
        try (SocketChannel first = scene.transport().open();
                SocketChannel second = scene.transport().open()) {
            first.connect(scene.listener().getLocalAddress());
            second.connect(scene.listener().getLocalAddress());
            for (int i = 0; i < 2; i++) {
                all += scene.selector().select() + of(key) + key.isAcceptable();
                scene.selector().selectedKeys().clear();
                scene.listener().accept().close();
            }
            return all + scene.selector().selectNow() + scene.listener().accept();
        }
    }

    private static Object connect(Scene scene) throws IOException {
        try (SocketChannel client = scene.transport().open()) {
            client.configureBlocking(false);
            boolean isConnected = client.connect(scene.listener().getLocalAddress());
            SelectionKey key = client.register(scene.selector(), SelectionKey.OP_CONNECT);
            if (!isConnected) {
                scene.selector().select();
                assertThat(key.isConnectable()).isTrue();
                assertThat(client.finishConnect()).isTrue();
            }
            scene.selector().selectedKeys().clear();
            String after = scene.selector().selectNow() + sets(scene.selector());
            key.interestOps(READ | WRITE);
            return after + scene.selector().select() + of(key);
        }
    }

    private static Object refuse(Scene scene) throws IOException {
        try (SocketChannel client = scene.transport().open()) {
            client.configureBlocking(false);
            try {
                client.connect(scene.transport().unusedAddress());
                SelectionKey key = client.register(scene.selector(), SelectionKey.OP_CONNECT);
                String ready = scene.selector().select() + of(key);
                assertThat(ready).isEqualTo("18/8");
                client.finishConnect();
                return "connected";
            } catch (IOException e) {
                return e.getClass() + " " + client.isOpen() + scene.selector().selectNow()
                        + sets(scene.selector());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP", "RULED_TCP"})
    void selectorsDoWhatThoseOverTcpDo(Transport transport) throws Exception {
        List<String> different = new ArrayList<>();
        for (Map.Entry<String, Script> script : SCRIPTS.entrySet()) {
            String ours = seen(transport, script.getValue());
            String theirs = seen(Transport.TCP, script.getValue());
            if (!ours.equals(theirs)) {
                different.add(script.getKey() + ": " + ours + "; TCP: " + theirs);
            }
        }
        assertThat(different).isEmpty();
    }

    /** A program that looks at OP_READ first would read from a connection that is not finished. */
    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP"})
    void connectionThatStandsCanOnlyBeFinished(Transport transport) throws Exception {
        try (Scene scene = Scene.over(transport); SocketChannel client = transport.open()) {
            client.configureBlocking(false);
            boolean isConnected = client.connect(scene.listener().getLocalAddress());
            SelectionKey key = client.register(scene.selector(),
                    READ | WRITE | SelectionKey.OP_CONNECT);
            if (!isConnected) {
                assertThat(scene.selector().select()).isOne();
                assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_CONNECT);
                assertThat(client.finishConnect()).isTrue();
                scene.selector().selectedKeys().clear();
            }
            assertThat(scene.selector().select()).isOne();
            assertThat(key.readyOps()).isEqualTo(WRITE);
        }
    }

    /** What could not be selected before can be without any further news. */
    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP"})
    void connectionThatIsFinishedCanBeReadAndWritten(Transport transport) throws Exception {
        try (Scene scene = Scene.over(transport); SocketChannel client = transport.open()) {
            client.configureBlocking(false);
            boolean isConnected = client.connect(scene.listener().getLocalAddress());
            SelectionKey key = client.register(scene.selector(), READ | WRITE);
            try (SocketChannel accepted = scene.listener().accept()) {
                accepted.write(ByteBuffer.allocate(1));
                if (!isConnected) {
                    assertThat(scene.selector().select(20)).isZero();
                    Wait.until("it stands", client::finishConnect);
                }
                Wait.until("both are ready", () -> {
                    scene.selector().select();
                    return key.readyOps() == (READ | WRITE);
                });
            }
        }
    }

    private static String seen(Transport transport, Script script) throws IOException {
        try (Scene scene = Scene.over(transport)) {
            return seen(script, scene);
        } finally {
            Thread.interrupted();
        }
    }
}
