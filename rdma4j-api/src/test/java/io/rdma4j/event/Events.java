// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import io.rdma4j.verbs.RdmaException;

/** Events as channels of the verbs have them, for tests. */
final class Events {
    static final WaitFailures<RdmaException> FAILURES = new WaitFailures<>("await event",
            RdmaException::ofSystem);

    private Events() {}

    /** {@return a queue that belongs to no set} */
    static <T> EventQueue<T, RdmaException> queue() {
        return new EventQueue<>(FAILURES, true);
    }
}
