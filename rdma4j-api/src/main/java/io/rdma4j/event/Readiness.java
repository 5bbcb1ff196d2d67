// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import io.rdma4j.jdk.JdkProvider;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;

/**
 * A channel that is readable exactly while there is an event: a pipe with one byte in it, or none. For one caller at a time.
 *
 * <p>Both ends are non-blocking. So a full pipe never blocks the thread that publishes, and an interrupt does not close the
 * pipe, as it would with a blocking one.
 */
final class Readiness {
    /** The one of all: its value is nothing to anybody. Direct, so that virtual threads need no copy of it. */
    private static final ByteBuffer BYTE = ByteBuffer.allocateDirect(1);

    private final Pipe.SourceChannel source;
    private final Pipe.SinkChannel sink;
    private final ByteBuffer oneByte = BYTE.duplicate();
    private boolean isReadable;

    private Readiness(Pipe pipe) throws IOException {
        source = pipe.source();
        sink = pipe.sink();
        source.configureBlocking(false);
        sink.configureBlocking(false);
    }

    /** Makes the channel. */
    static Readiness open() throws IOException {
        return new Readiness(JdkProvider.provider().openPipe());
    }

    SelectableChannel channel() {
        return source;
    }

    /** {@return whether it is open: closed neither here nor by the application} */
    boolean isOpen() {
        return sink.isOpen() && source.isOpen();
    }

    /** Makes the channel readable, or no longer. */
    void show(boolean wanted) {
        if (wanted == isReadable || !sink.isOpen()) {
            return;
        }
        oneByte.clear();
        try {
            if (wanted) {
                sink.write(oneByte);
            } else {
                source.read(oneByte);
            }
            isReadable = wanted;
        } catch (IOException closed) {
            // By the application, which wants to know no more.
            close();
        }
    }

    /** Ends the channel, and wakes selectors that wait for it. */
    void close() {
        // They are woken by the end of what is written, not by the closing of what they look at.
        close(sink);
        close(source);
    }

    private static void close(Channel end) {
        try {
            end.close();
        } catch (IOException e) {
            // It is closed all the same.
        }
    }
}
