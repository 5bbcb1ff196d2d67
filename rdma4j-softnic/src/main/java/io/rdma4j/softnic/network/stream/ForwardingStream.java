// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.verbs.Errno;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * A stream that forwards to another stream, and handles its events before the user does. Base class of impairment and
 * recording.
 */
abstract class ForwardingStream implements Stream, Stream.Handler {
    private final Stream stream;
    private @Nullable Handler handler;

    /** @param stream the other stream, whose handler this object becomes */
    ForwardingStream(Stream stream) {
        this.stream = stream;
        stream.handler(this);
    }

    /** {@return the handler of the events of this one} */
    private Handler user() {
        Handler present = handler;
        if (present == null) {
            throw new IllegalStateException("this stream has no user");
        }
        return present;
    }

    // ---------------------------------------------------------------- for its user

    @Override
    public void handler(Handler next) {
        handler = next;
    }

    @Override
    public InetSocketAddress local() {
        return stream.local();
    }

    @Override
    public InetSocketAddress remote() {
        return stream.remote();
    }

    @Override
    public int read(ByteBuffer into) {
        return stream.read(into);
    }

    @Override
    public int write(ByteBuffer from) {
        return stream.write(from);
    }

    @Override
    public boolean isAcknowledged() {
        return stream.isAcknowledged();
    }

    @Override
    public void finish() {
        stream.finish();
    }

    @Override
    public void close() {
        stream.close();
    }

    @Override
    public void reset() {
        stream.reset();
    }

    // ---------------------------------------------------------------- what happens to the other one

    @Override
    public void onConnected() {
        user().onConnected();
    }

    @Override
    public void onRefused(Errno reason) {
        user().onRefused(reason);
    }

    @Override
    public void onReadable() {
        user().onReadable();
    }

    @Override
    public void onWritable() {
        user().onWritable();
    }
}
