// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.verbs.RdmaException;

/** Frees objects of the verbs, each whether or not the one before could be. */
final class Freeing {
    private static final System.Logger LOG = System.getLogger(Freeing.class.getName());

    private Freeing() {}

    /** Frees one. */
    interface Step {
        void free() throws RdmaException;
    }

    static void all(Step... steps) {
        for (Step step : steps) {
            try {
                step.free();
            } catch (RdmaException | RuntimeException e) {
                LOG.log(System.Logger.Level.WARNING, "what a connection had was not freed", e);
            }
        }
    }
}
