// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;

/** What the socket of a channel needs of it beside its public methods. Times in nanoseconds; {@link Long#MAX_VALUE} for no limit. */
interface BlockingOperations {
    /**
     * As the read of the channel.
     *
     * @throws java.net.SocketTimeoutException if nothing comes in time
     * @throws java.nio.channels.IllegalBlockingModeException if the channel does not block
     */
    int read(ByteBuffer into, long timeoutNs) throws IOException;

    /** As {@link #read}, without an end of time. */
    int write(ByteBuffer from) throws IOException;

    /** As {@link #read}; when time is up the channel is closed. */
    void connect(SocketAddress remote, long timeoutNs) throws IOException;

    /** {@return how many bytes can be read now} */
    int available();

    /** {@return where it is bound, null if it is not; also after the end} */
    @Nullable
    InetSocketAddress local();

    /** {@return where it is connected to, null if it is not; also after the end} */
    @Nullable
    InetSocketAddress remote();

    boolean isInputShut();

    boolean isOutputShut();
}
