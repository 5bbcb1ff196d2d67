// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import java.io.IOException;
import java.io.Serial;

/** The peer has ended, in the middle of a test or of an exchange. */
final class PeerGone extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** @param reason as far as this side can know */
    PeerGone(String reason) {
        super("the peer hung up; " + reason);
    }
}
