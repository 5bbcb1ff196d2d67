// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.examples.Adding;
import io.rdma4j.examples.BasicClient;
import io.rdma4j.examples.BasicServer;
import io.rdma4j.examples.ByHand;
import io.rdma4j.examples.FileTransfer;
import io.rdma4j.examples.OneSelector;
import io.rdma4j.examples.ReadWrite;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs every example on one device, both sides in this process: {@code java io.rdma4j.tools.NativeExamples DEVICE ADDRESS},
 * with a device of the system, such as rxe0, and its address. Prints a line for each example, and ends with status 1 if one
 * failed, 2 if none could be tried.
 */
final class NativeExamples {
    private static final String DEVICE_PROPERTY = "rdma4j.device";
    private static final int UNUSABLE = 2;
    private static final int LIMIT_SECONDS = 60;
    private static final int FILE_BYTES = (3 << 20) + 17;
    private static final Pattern TCP_PORT = Pattern.compile("for TCP on port (\\d+)");

    private final RdmaDevice device;
    private final InetSocketAddress address;
    private int failures;

    private NativeExamples(RdmaDevice device, InetAddress address) {
        this.device = device;
        this.address = new InetSocketAddress(address, 0);
    }

    /** Text that an example prints. */
    private static final class Output {
        private final StringWriter text = new StringWriter();
        private final PrintWriter out = new PrintWriter(text, true);

        void requireIn(String expected) {
            String all = text.toString();
            if (!all.contains(expected)) {
                throw new IllegalStateException("no \"" + expected + "\" in: " + all);
            }
        }
    }

    /** One side of an example, or both. */
    @FunctionalInterface
    private interface Part<T> {
        void run(T with) throws Exception;
    }

    /** An example, which prints what its two sides do. */
    @FunctionalInterface
    private interface Example {
        void run(Output server, Output client) throws Exception;
    }

    public static void main(String[] arguments) {
        if (arguments.length != 2) {
            System.err.println("usage: NativeExamples DEVICE ADDRESS");
            System.exit(UNUSABLE);
        }
        // Also for those that find their device by its address.
        System.setProperty(DEVICE_PROPERTY, arguments[0]);
        try {
            NativeExamples examples = new NativeExamples(RdmaDevices.find(arguments[0]),
                    InetAddress.ofLiteral(arguments[1]));
            examples.tryAll();
            System.exit(examples.failures == 0 ? 0 : 1);
        } catch (RdmaException | IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(UNUSABLE);
        }
    }

    private void tryAll() {
        tryOut("BasicServer, BasicClient", this::basic);
        for (ReadWrite.Mode mode : ReadWrite.Mode.values()) {
            tryOut("ReadWrite " + mode, (server, client) -> readWrite(mode, server, client));
        }
        tryOut("Adding", this::adding);
        tryOut("FileTransfer", this::fileTransfer);
        tryOut("OneSelector", this::oneSelector);
        tryOut("ByHand", this::byHand);
    }

    private void tryOut(String name, Example example) {
        try {
            example.run(new Output(), new Output());
            System.out.println("ok     " + name);
        } catch (Exception e) {
            failures++;
            System.out.println("FAILED " + name + ": " + e);
        }
    }

    /** Runs a server in a thread of its own, which tells where it listens, and a client of it. */
    private static <T> void both(Part<Consumer<T>> serving, Part<T> connecting) throws Exception {
        CompletableFuture<T> listening = new CompletableFuture<>();
        CompletableFuture<Void> served = CompletableFuture.runAsync(() -> {
            try {
                serving.run(listening::complete);
            } catch (Exception e) {
                listening.completeExceptionally(e);
                throw new IllegalStateException(e);
            }
        });
        connecting.run(listening.get(LIMIT_SECONDS, TimeUnit.SECONDS));
        served.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    private static Consumer<CmId> addressOf(Consumer<InetSocketAddress> ready) {
        return listener -> ready.accept(listener.localAddress());
    }

    private void basic(Output server, Output client) throws Exception {
        both((Consumer<InetSocketAddress> ready) -> BasicServer.run(address, 1, server.out,
                addressOf(ready)), at -> BasicClient.run(at, client.out));
        server.requireIn("peer disconnected.");
        client.requireIn("message from passive/server side");
    }

    private void readWrite(ReadWrite.Mode mode, Output server, Output client) throws Exception {
        both((Consumer<InetSocketAddress> ready) -> ReadWrite.serve(address, mode, server.out,
                addressOf(ready)), at -> ReadWrite.connect(at, mode, client.out));
        server.requireIn("remote buffer: message from active/client side");
        client.requireIn("remote buffer: message from passive/server side");
    }

    private void adding(Output server, Output client) throws Exception {
        both((Consumer<InetSocketAddress> ready) -> Adding.serve(address, server.out,
                addressOf(ready)), at -> {
                    int sum = Adding.add(at, 123_456, -789, client.out);
                    if (sum != 122_667) {
                        throw new IllegalStateException("the sum is " + sum);
                    }
                });
        server.requireIn("adding 123456 and -789.");
    }

    private void fileTransfer(Output server, Output client) throws Exception {
        Path folder = Files.createTempDirectory("examples");
        Path file = folder.resolve("original.bin");
        Path received = Files.createDirectory(folder.resolve("received"));
        byte[] bytes = new byte[FILE_BYTES];
        new Random(FILE_BYTES).nextBytes(bytes);
        Files.write(file, bytes);
        both((Consumer<InetSocketAddress> ready) -> FileTransfer.receive(address, received,
                server.out, addressOf(ready)), at -> FileTransfer.send(at, file, client.out));
        Path copy = received.resolve("original.bin");
        if (Files.mismatch(file, copy) != -1) {
            throw new IllegalStateException("the file arrived changed");
        }
        for (Path each : List.of(copy, received, file, folder)) {
            Files.delete(each);
        }
    }

    private void oneSelector(Output server, Output client) throws Exception {
        both((Consumer<InetSocketAddress> ready) -> OneSelector.serve(address, 2, server.out,
                addressOf(ready)), at -> {
                    Matcher other = TCP_PORT.matcher(server.text.toString());
                    int port = other.find() ? Integer.parseInt(other.group(1)) : at.getPort();
                    require("BY TCP", byTcp(new InetSocketAddress(at.getAddress(), port)));
                    require("BY RDMA", OneSelector.ask(at, "by rdma", client.out));
                });
        server.requireIn("a TCP client has come.");
        server.requireIn("an RDMA client has come.");
    }

    private static String byTcp(InetSocketAddress server) throws IOException {
        byte[] text = "by tcp".getBytes(StandardCharsets.UTF_8);
        try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
            socket.getOutputStream().write(text);
            return new String(socket.getInputStream().readNBytes(text.length),
                    StandardCharsets.UTF_8);
        }
    }

    private static void require(String expected, String found) {
        if (!expected.equals(found)) {
            throw new IllegalStateException("the answer is " + found + ", not " + expected);
        }
    }

    private void byHand(Output server, Output client) throws Exception {
        String name = device.name();
        if (device.transport() == TransportType.IWARP) {
            requireRefusal(client);
            return;
        }
        both((Consumer<Integer> ready) -> ByHand.serve(name, 0, server.out, ready::accept),
                port -> ByHand.connect(name, address.getAddress(), port, client.out));
        client.requireIn("1000 round trips of 64 bytes");
    }

    /** iWARP knows no queue pairs that a program connects by itself. */
    private void requireRefusal(Output client) throws IOException {
        try (ServerSocket peer = new ServerSocket(0)) {
            ByHand.connect(device.name(), InetAddress.getLoopbackAddress(), peer.getLocalPort(),
                    client.out);
        } catch (RdmaException e) {
            if (e.errno() == Errno.EOPNOTSUPP) {
                return;
            }
            throw e;
        }
        throw new IllegalStateException("it was not refused");
    }
}
