// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.StreamSettings;
import org.jspecify.annotations.Nullable;

/** The size of the buffers of connections whose application does not say one. C: the file {@code rsocket/mem_default}. */
public final class BufferSize {
    private static final String PROPERTY = "rdma4j.sockets.buffer";
    /** That of librdmacm. */
    private static final int USUAL = 1 << 17;
    /** Of a buffer that has grown: what is on its way while both sides are woken, and what fits into the caches of two processors. */
    static final int LARGER = 1 << 20;

    private BufferSize() {}

    /**
     * {@return how many bytes a buffer has, in each direction}
     *
     * @throws IllegalArgumentException if the system property {@code rdma4j.sockets.buffer} is no such number
     */
    public static int usual() {
        return of(System.getProperty(PROPERTY));
    }

    /** {@return whether buffers have this size for as long as they exist} Otherwise they grow where a stream needs it. */
    static boolean isFixed() {
        return System.getProperty(PROPERTY) != null;
    }

    static int of(@Nullable String text) {
        if (text == null) {
            return USUAL;
        }
        try {
            int bytes = Integer.parseInt(text);
            if (bytes >= StreamSettings.LEAST_BYTES && bytes <= StreamSettings.MOST_BYTES
                    && bytes % 2 == 0) {
                return bytes;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new IllegalArgumentException("-D" + PROPERTY + " is an even number of bytes from "
                + StreamSettings.LEAST_BYTES + " to " + StreamSettings.MOST_BYTES + ", not '"
                + text + "'");
    }
}
