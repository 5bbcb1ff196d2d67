// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.softnic.network.linux.stream.LinuxStreams;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;

/** A process that runs out of file descriptors, of which it may have few, and gets some back. Argument: {@code linux} or {@code portable}. */
final class DescriptorShortage {
    /** More than it may have. */
    private static final int MANY = 10_000;

    private final StreamNetwork network;
    private final List<Stream> accepted = new ArrayList<>();
    private final List<FileInputStream> files = new ArrayList<>();

    private DescriptorShortage(StreamNetwork network) {
        this.network = network;
    }

    /** Ends with status 0 if all was as it should be. */
    public static void main(String[] arguments) throws Exception {
        new DescriptorShortage(
                "linux".equals(arguments[0]) ? new LinuxStreams() : new PortableStreams()).run();
    }

    private void run() throws Exception {
        StreamListener listener = listen();
        Socket early = connectTo(listener);
        awaitAccepted("a connection while there are descriptors", 1);
        load(listener);
        openAll();
        expectRefusal(() -> network.connect(null, listener.local()));
        expectRefusal(this::listen);
        expectRefusal(
                () -> HeldPort.at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
        files.removeLast().close();
        Socket late = connectTo(listener);
        while (network.poll()) {
            // Until it is idle: waiting connections are not reported again and again.
        }
        if (accepted.size() != 1) {
            throw new AssertionError("it was accepted without a descriptor");
        }
        closeAll();
        awaitAccepted("who has waited meanwhile", 2);
        expectNoRefusal(listener);
        early.close();
        late.close();
        network.close();
    }

    private StreamListener listen() throws RdmaException {
        return network.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16,
                accepted::add);
    }

    private static Socket connectTo(StreamListener listener) throws Exception {
        return new Socket(listener.local().getAddress(), listener.local().getPort());
    }

    private void awaitAccepted(String what, int count) throws Exception {
        Wait.until(what, () -> {
            network.poll();
            return accepted.size() == count;
        });
    }

    /** All classes that a refusal uses are loaded, which takes descriptors. */
    private void load(StreamListener listener) throws Exception {
        expectRefusal(() -> {
            throw StreamRefusal.of("nothing", listener.local(),
                    new SocketException("Too many open files"));
        });
        HeldPort.at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).release();
        try {
            network.listen(listener.local(), 1, accepted::add);
            throw new AssertionError("two listen at one port");
        } catch (RdmaException inUse) {
            if (inUse.errno() != Errno.EADDRINUSE) {
                throw new AssertionError(inUse);
            }
        }
    }

    private void openAll() throws Exception {
        for (int i = 0; i < MANY; i++) {
            try {
                files.add(new FileInputStream("/dev/null"));
            } catch (FileNotFoundException noMore) {
                return;
            }
        }
        throw new AssertionError("it may have more than " + MANY);
    }

    private void closeAll() throws Exception {
        for (FileInputStream each : files) {
            each.close();
        }
        files.clear();
    }

    private interface Attempt {
        Object run() throws RdmaException;
    }

    private static void expectRefusal(Attempt attempt) {
        try {
            throw new AssertionError("not refused: " + attempt.run());
        } catch (RdmaException e) {
            if (e.errno() != Errno.EMFILE || !e.toString().contains("ulimit -n")) {
                throw new AssertionError(e);
            }
        }
    }

    private void expectNoRefusal(StreamListener listener) throws Exception {
        network.connect(null, listener.local()).handler(new StreamContract.End());
        awaitAccepted("a connection of its own", 3);
    }
}
