// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

/** Is told when a connection, one that is being made, or a listener may have become ready. */
public interface ReadinessListener {
    /** For nobody. */
    ReadinessListener NONE = (hasInput, hasOutput) -> {};

    /**
     * It is ready now. That may be told again while it lasts. Called by any thread under a lock of the connection, so it neither
     * waits nor calls back.
     *
     * @param hasInput a read or an accept does not wait
     * @param hasOutput a write does not wait, or connecting has ended
     */
    void onReady(boolean hasInput, boolean hasOutput);

    /** {@return whether it belongs to a selector, whose thread comes back for what a read does not find yet} Called as {@link #onReady}. */
    default boolean isSelected() {
        return false;
    }
}
