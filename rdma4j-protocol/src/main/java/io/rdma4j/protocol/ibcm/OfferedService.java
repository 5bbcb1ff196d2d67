// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import org.jspecify.annotations.Nullable;

/**
 * What a service offers, how many requests of it wait for an answer, and how many are kept although it is closed: until their
 * repetitions need no answer. One caller at a time.
 */
final class OfferedService {
    private final ListenSpec spec;
    private int unanswered;
    private int kept;
    private @Nullable Runnable onUnneeded;

    OfferedService(ListenSpec spec) {
        this.spec = spec;
    }

    ListenSpec spec() {
        return spec;
    }

    /** {@return whether another request may wait} */
    boolean hasRoom() {
        return unanswered < spec.backlog();
    }

    void onRequest() {
        unanswered++;
        kept++;
    }

    void onAnswered() {
        unanswered--;
    }

    /** The repetition of an answered request needs no answer any more. */
    void onForgotten() {
        kept--;
        finishIfUnneeded();
    }

    /** @param onNoneLeft called once no request is kept, perhaps at once */
    void close(Runnable onNoneLeft) {
        onUnneeded = onNoneLeft;
        finishIfUnneeded();
    }

    private void finishIfUnneeded() {
        Runnable told = onUnneeded;
        if (told != null && kept == 0) {
            onUnneeded = null;
            told.run();
        }
    }
}
