// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import java.io.IOException;
import java.io.Serial;

/** The peer has broken the rsocket protocol. The message says how. */
public final class RsocketException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    /** @param what the peer has done, as the end of a sentence */
    public RsocketException(String what) {
        super("the peer broke the rsocket protocol: " + what);
    }
}
