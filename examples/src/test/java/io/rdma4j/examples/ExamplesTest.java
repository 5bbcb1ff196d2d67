// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static io.rdma4j.examples.TwoSides.ask;
import static io.rdma4j.examples.TwoSides.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Every example runs, both sides, and says what it should. */
class ExamplesTest extends ConnectedExamples {
    private static final InetSocketAddress ANY_PORT = TwoSides.ANY_PORT;

    /** The build runs this class as a module, with what the module's descriptor says and no more. */
    @Test
    void examplesAreAModuleWhereTheBuildSaysSo() {
        assertThat(BasicServer.class.getModule().isNamed())
                .isEqualTo(Boolean.getBoolean("rdma4j.test.module"));
    }

    @Test
    void basicClientAndServerGreetEachOther() throws Exception {
        run(ready -> BasicServer.run(ANY_PORT, 1, server.out, ready),
                address -> BasicClient.run(address, client.out));
        String pid = String.valueOf(ProcessHandle.current().pid());
        assertThat(server.lines()).contains("received connection request.",
                "connected. posting send...", "send completed successfully.",
                "received message: message from active/client side with pid " + pid,
                "peer disconnected.");
        assertThat(client.lines()).contains("address resolved.", "route resolved.",
                "connected. posting send...", "send completed successfully.",
                "received message: message from passive/server side with pid " + pid,
                "disconnected.");
    }

    @Test
    void basicClientSaysWhyItCannotConnect() throws Exception {
        run(ready -> BasicServer.run(ANY_PORT, 1, server.out, ready), address -> {
            InetSocketAddress nobody = new InetSocketAddress(address.getAddress(), 1);
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> BasicClient.run(nobody, client.out))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ECONNREFUSED))
                    .withMessageContaining("invalid service ID");
            BasicClient.run(address, client.out);
        });
    }

    /** A server that is none of ours: it accepts, and then does what a test says. */
    private static void serveOnce(Consumer<CmId> onListening, int receiveBytes, Connected then)
            throws Exception {
        try (CmId listener = CmId.create(PortSpace.TCP); Arena arena = Arena.ofShared()) {
            listener.bindAddress(ANY_PORT);
            listener.listen(1);
            onListening.accept(listener);
            try (CmId id = listener.awaitRequest()) {
                id.createQueuePair();
                try (MemoryRegion region = id.registerMessages(arena.allocate(receiveBytes))) {
                    id.postReceive(1, region, 0, receiveBytes);
                    id.accept(new ConnectionParameters());
                    then.run(id);
                    id.closeQueuePair();
                }
            }
        }
    }

    private interface Connected {
        void run(CmId id) throws Exception;
    }

    @Test
    void basicClientFailsWhenItsMessageIsRefused() throws Exception {
        run(ready -> serveOnce(ready, 16, CmId::awaitReceiveCompletion),
                address -> assertThatExceptionOfType(RdmaException.class)
                        .isThrownBy(() -> BasicClient.run(address, client.out))
                        .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EIO))
                        .withMessageContaining("REMOTE_INVALID_REQUEST_ERROR"));
    }

    @Test
    void basicClientFailsWhenTheServerDisconnectsEarly() throws Exception {
        run(ready -> serveOnce(ready, 1024, id -> {
            // The client's message has come; it waits for one that is never sent.
            id.awaitReceiveCompletion();
            id.disconnect();
        }), address -> assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> BasicClient.run(address, client.out))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ECONNRESET))
                .withMessageContaining("ended before a message had gone each way"));
    }

    @Test
    void basicServerGoesOnAfterAClientThatDidNotWait() throws Exception {
        run(ready -> BasicServer.run(ANY_PORT, 1, server.out, listener -> {
            try {
                withdrawRequest(listener.localAddress());
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
            ready.accept(listener);
        }), address -> BasicClient.run(address, client.out));
        // As with Linux, where no queue pair is created for a request that was withdrawn.
        assertThat(server.lines())
                .filteredOn(line -> line.startsWith("connection failed: create queue pair"))
                .hasSize(1);
        // Two threads report completions and events, in either order.
        assertThat(server.lines()).contains("send completed successfully.", "peer disconnected.");
    }

    /** Asks for a connection and takes that back before the server has looked. */
    private static void withdrawRequest(InetSocketAddress address) throws RdmaException {
        try (CmEventChannel events = CmEventChannel.create();
                CmId impatient = CmId.create(events, PortSpace.TCP)) {
            impatient.resolveAddress(address, Duration.ofSeconds(2));
            events.awaitEvent().close();
            impatient.resolveRoute(Duration.ofSeconds(2));
            events.awaitEvent().close();
            impatient.connect(new ConnectionParameters().queuePairNumber(5));
        }
        // Packets arrive in order: with the answer to a later one, the earlier ones have been dealt with.
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> BasicClient.run(
                new InetSocketAddress(address.getAddress(), 1), new Output().out));
    }

    @Test
    void basicServerGoesOnAfterAnExchangeThatFailed() throws Exception {
        run(ready -> BasicServer.run(ANY_PORT, 2, server.out, ready), address -> {
            try (CmId id = CmId.create(PortSpace.TCP); Arena arena = Arena.ofShared()) {
                id.resolveAddress(address, Duration.ofSeconds(2));
                id.resolveRoute(Duration.ofSeconds(2));
                id.createQueuePair();
                try (MemoryRegion region = id.registerMessages(arena.allocate(2000))) {
                    id.connect(new ConnectionParameters());
                    id.postSend(1, region, 0, 2000, SendFlag.SIGNALED);
                    assertThat(id.awaitSendCompletion().isSuccess()).isFalse();
                    id.closeQueuePair();
                }
            }
            BasicClient.run(address, client.out);
        });
        assertThat(server.lines()).contains("peer disconnected.")
                .anyMatch(line -> line.contains("LOCAL_LENGTH_ERROR"));
        assertThat(client.lines()).contains("disconnected.");
    }

    @Test
    void oneSelectorServesSocketsAndRdmaAtOnce() throws Exception {
        run(ready -> OneSelector.serve(ANY_PORT, 4, server.out, ready), address -> {
            try (Socket first = new Socket(address.getAddress(), address.getPort());
                    Socket second = new Socket(address.getAddress(), address.getPort())) {
                assertThat(ask(first, "first by tcp")).isEqualTo("FIRST BY TCP");
                assertThat(OneSelector.ask(address, "by rdma", client.out))
                        .isEqualTo("BY RDMA");
                assertThat(ask(second, "second by tcp")).isEqualTo("SECOND BY TCP");
                assertThat(ask(first, "Once More")).isEqualTo("ONCE MORE");
                assertThat(OneSelector.ask(address, "again", client.out)).isEqualTo("AGAIN");
            }
        });
        assertThat(server.lines())
                .contains("a TCP client has come.", "an RDMA client has come.",
                        "a TCP client has ended.")
                .filteredOn(line -> line.equals("an RDMA client has ended.")).hasSize(2);
        assertThat(client.lines()).containsExactly("BY RDMA", "AGAIN");
    }

    @Test
    void oneSelectorRefusesWhatDoesNotFitAndGoesOn() throws Exception {
        run(ready -> OneSelector.serve(ANY_PORT, 2, server.out, ready), address -> {
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> OneSelector.ask(address, "x".repeat(200), client.out))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EMSGSIZE));
            try (CmId id = CmId.create(PortSpace.TCP); Arena arena = Arena.ofShared()) {
                id.resolveAddress(address, Duration.ofSeconds(2));
                id.resolveRoute(Duration.ofSeconds(2));
                id.createQueuePair();
                try (MemoryRegion region = id.registerMessages(arena.allocate(2000))) {
                    id.connect(new ConnectionParameters());
                    id.postSend(1, region, 0, 2000, SendFlag.SIGNALED);
                    assertThat(id.awaitSendCompletion().isSuccess()).isFalse();
                    id.closeQueuePair();
                }
            }
            assertThat(OneSelector.ask(address, "still there", client.out))
                    .isEqualTo("STILL THERE");
        });
    }

    @Test
    void connectionByHandEndsWhenThePeerFallsSilent() throws Exception {
        CompletableFuture<Integer> port = new CompletableFuture<>();
        CompletableFuture<Void> served = CompletableFuture.runAsync(() -> {
            try {
                ByHand.serve("roce_lo", 0, server.out, port::complete, Duration.ofMillis(200));
            } catch (IOException e) {
                port.completeExceptionally(e);
                throw new UncheckedIOException(e);
            }
        });
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(),
                port.get(30, TimeUnit.SECONDS))) {
            // A peer that is ready, and then never sends: number, sequence number, address, ready.
            ByteBuffer peer = ByteBuffer.allocate(25).putInt(17).putInt(0)
                    .put(Gid.of(InetAddress.ofLiteral("127.0.0.1")).bytes()).put((byte) '.');
            socket.getOutputStream().write(peer.array());
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> served.get(30, TimeUnit.SECONDS))
                    .withMessageContaining("the peer has sent nothing for 200 ms");
        }
    }

    @Test
    void connectionByHandPlaysPingPong() throws Exception {
        CompletableFuture<Integer> port = new CompletableFuture<>();
        CompletableFuture<Void> served = CompletableFuture.runAsync(() -> {
            try {
                ByHand.serve("roce_lo", 0, server.out, port::complete);
            } catch (Exception e) {
                port.completeExceptionally(e);
                throw new IllegalStateException(e);
            }
        });
        ByHand.connect("roce_lo", InetAddress.getLoopbackAddress(), port.get(30, TimeUnit.SECONDS),
                client.out);
        served.get(30, TimeUnit.SECONDS);
        assertThat(client.lines()).contains("queue pair is in state RTS.").last().asString()
                .startsWith("1000 round trips of 64 bytes");
    }
}
