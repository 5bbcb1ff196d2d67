// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.stream;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SocketOption;
import io.rdma4j.softnic.network.linux.calls.TcpCalls;
import io.rdma4j.softnic.network.stream.ForwardingStreams;
import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.softnic.network.stream.StreamListener;
import io.rdma4j.softnic.network.stream.StreamNetwork;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A network of streams whose sockets have small buffers, whatever kind it is: its sockets are those of this process with the
 * address and port of a stream. For Linux.
 */
public final class NarrowStreams extends ForwardingStreams {
    private static final int SEND_BUFFER = 4 << 10;
    /**
     * About a segment of the loopback interface: with less Linux sends only by a timer of 0.2 s, as it waits for the window that
     * half a segment needs.
     */
    private static final int RECEIVE_BUFFER = 64 << 10;
    private static final Path OPEN_FILES = Path.of("/proc/self/fd");

    private final TcpCalls calls = new TcpCalls(Arena.ofAuto());

    public NarrowStreams(StreamNetwork network) {
        super(network);
    }

    private void narrow(InetSocketAddress local) {
        int found = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(OPEN_FILES)) {
            for (Path each : files) {
                int descriptor = Integer.parseInt(String.valueOf(each.getFileName()));
                if (isAt(descriptor, local)) {
                    set(descriptor, SocketOption.SO_SNDBUF, SEND_BUFFER);
                    set(descriptor, SocketOption.SO_RCVBUF, RECEIVE_BUFFER);
                    found++;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        assertThat(found).as("sockets at " + local).isPositive();
    }

    private boolean isAt(int descriptor, InetSocketAddress local) {
        try {
            return calls.local(descriptor).equals(local);
        } catch (LinuxSocket.Refused noSocket) {
            return false;
        }
    }

    private void set(int descriptor, int option, int length) {
        assertThat(calls.setOption(descriptor, SocketOption.SOL_SOCKET, option, length))
                .isZero();
    }

    /** Its connections inherit its buffers. */
    @Override
    public StreamListener listen(InetSocketAddress at, int backlog, StreamListener.Handler handler)
            throws RdmaException {
        StreamListener listener = network.listen(at, backlog, handler);
        narrow(listener.local());
        return listener;
    }

    @Override
    public Stream connect(@Nullable InetSocketAddress source, InetSocketAddress destination)
            throws RdmaException {
        Stream stream = network.connect(source, destination);
        narrow(stream.local());
        return stream;
    }
}
