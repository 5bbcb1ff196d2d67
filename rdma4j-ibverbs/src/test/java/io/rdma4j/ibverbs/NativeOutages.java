// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs;

import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Takes the peer, and then the device, from a pair that transfers: nothing may crash or wait for ever, what was under way
 * fails with a reason, and everything can be closed. As root, on a machine whose device is of {@code rdma_rxe} or
 * {@code siw}, and on which nothing else uses it.
 *
 * <p>{@code java -Drdma4j.test.native.device=rxe0 -Drdma4j.test.native.address=10.77.0.11 io.rdma4j.ibverbs.NativeOutages
 * [transfer]}. The device has gone when the process ends, for librdmacm keeps it open until then; with {@code transfer}
 * another process shows that the next one of this name can be used.
 */
public final class NativeOutages {
    private static final String SERVE = "serve";
    private static final String TRANSFER = "transfer";
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration MOMENT = Duration.ofSeconds(5);
    private static final int FAILED = 1;

    private final RdmaDevice device;
    private final String module;
    private final InetAddress address;

    private NativeOutages(NativeSubject subject) {
        device = subject.device();
        address = subject.address();
        String driver = device.name().replaceAll("\\d+$", "");
        module = driver.equals("rxe") ? "rdma_rxe" : driver;
    }

    /** Ends with status 0 if all went as it must. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        NativeOutages run = new NativeOutages(NativeSubject.ofSystem());
        try {
            if (arguments.length > 0 && SERVE.equals(arguments[0])) {
                run.serve();
                return;
            }
            if (arguments.length > 0 && TRANSFER.equals(arguments[0])) {
                run.transfer();
            } else {
                run.peerIsKilled();
                run.deviceIsTaken();
                run.deviceIsGone();
            }
        } catch (IOException | IllegalStateException e) {
            System.out.println("FAILED: " + e);
            System.exit(FAILED);
        }
        System.exit(0);
    }

    // ---------------------------------------------------------------- the peer

    /** Is the peer that will be killed. */
    private void serve() throws RdmaException, InterruptedException {
        CmId listener = OutageTraffic.listen(address);
        System.out.println(listener.localAddress().getPort());
        OutageTraffic.receive(listener).awaitEnd("its start");
    }

    private void peerIsKilled() throws IOException, InterruptedException {
        Process peer = new ProcessBuilder(ownCommand())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader said = peer.inputReader()) {
            int port = Integer.parseInt(said.readLine());
            try (OutageTraffic sender = OutageTraffic.send(new InetSocketAddress(address, port))) {
                sender.awaitUnderWay();
                peer.destroyForcibly();
                System.out.println("peer killed: " + sender.awaitEnd("its peer was killed"));
            }
        } finally {
            peer.destroyForcibly();
        }
    }

    private static List<String> ownCommand() {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path")));
        for (String name : List.of("rdma4j.test.native.device", "rdma4j.test.native.address")) {
            command.add("-D" + name + "=" + System.getProperty(name));
        }
        command.addAll(List.of(NativeOutages.class.getName(), SERVE));
        return command;
    }

    // ---------------------------------------------------------------- the device

    private void deviceIsTaken() throws IOException, InterruptedException {
        try (DeviceContext context = device.open();
                CmId listener = OutageTraffic.listen(address);
                Pair pair = new Pair(listener)) {
            pair.sender.awaitUnderWay();
            System.out.println("module in use: " + refused("modprobe", "-r", module));
            Process deletion = start("rdma", "link", "delete", device.name());
            String after = "the device was taken";
            System.out.println("sender: " + pair.sender.awaitEnd(after));
            System.out.println("receiver: " + pair.receiver.awaitEnd(after));
            System.out.println("listener: " + removal(listener));
            System.out.println("device: " + asynchronous(context, deletion));
        }
        System.out.println("all closed");
    }

    /** {@return the event that the listener gets when its device is removed} */
    private static String removal(CmId listener) throws RdmaException {
        try {
            CmId request = listener.pollRequest(LONG);
            throw new IllegalStateException(request == null
                    ? "the connection manager does not tell that its device goes"
                    : "a connection is asked for, of a device that goes");
        } catch (RdmaException e) {
            if (e.errno() != Errno.ENODEV) {
                throw e;
            }
            return e.detail();
        }
    }

    /**
     * {@return what the device itself tells of its end} A driver that can take devices from programs tells of it; with the
     * others, such as rdma_rxe and siw of Linux 6.1, the kernel waits until the programs have closed theirs.
     */
    private static String asynchronous(DeviceContext context, Process deletion)
            throws RdmaException {
        for (AsyncEvent event = context.asyncEventChannel()
                .pollEvent(MOMENT); event != null; event = context
                        .asyncEventChannel().pollEvent(MOMENT)) {
            event.acknowledge();
            if (event.type() == AsyncEventType.DEVICE_FATAL) {
                return event.type().text();
            }
            System.out.println("event: " + event);
        }
        if (!deletion.isAlive()) {
            throw new IllegalStateException("the device is gone, and did not tell");
        }
        return "no event, the kernel waits for this program";
    }

    private void deviceIsGone() throws RdmaException {
        try {
            RdmaDevices.find(device.name()).open().close();
            throw new IllegalStateException("a device that is being taken can be opened");
        } catch (RdmaException e) {
            if (e.errno() != Errno.ENODEV) {
                throw e;
            }
            System.out.println("once more: " + e.getMessage());
        }
    }

    private void transfer() throws IOException, InterruptedException {
        try (CmId listener = OutageTraffic.listen(address); Pair pair = new Pair(listener)) {
            pair.sender.awaitUnderWay();
            pair.sender.id().disconnect();
            pair.receiver.awaitEnd("its peer disconnected");
        }
        System.out.println("it transfers");
    }

    /** Both sides of a connection in this process. */
    private static final class Pair implements AutoCloseable {
        private final OutageTraffic sender;
        private final OutageTraffic receiver;

        Pair(CmId listener) throws IOException, InterruptedException {
            CompletableFuture<OutageTraffic> accepted = CompletableFuture
                    .supplyAsync(() -> accepted(listener));
            sender = OutageTraffic.send(listener.localAddress());
            try {
                receiver = accepted.get();
            } catch (ExecutionException e) {
                throw new IOException("the connection was not accepted", e);
            }
        }

        private static OutageTraffic accepted(CmId listener) {
            try {
                return OutageTraffic.receive(listener);
            } catch (RdmaException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() throws RdmaException {
            receiver.close();
            sender.close();
        }
    }

    // ---------------------------------------------------------------- commands

    private static Process start(String... command) throws IOException {
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static String refused(String... command) throws IOException, InterruptedException {
        Process process = start(command);
        if (!process.waitFor(MOMENT)) {
            process.destroyForcibly();
            return "it waits";
        }
        if (process.exitValue() == 0) {
            throw new IllegalStateException(String.join(" ", command) + " took what is in use");
        }
        return output(process);
    }

    private static String output(Process process) throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    }
}
