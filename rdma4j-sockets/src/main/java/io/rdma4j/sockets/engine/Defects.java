// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

/** A defect of one connection must not end the others, nor the thread that leads for them. */
final class Defects {
    private static final System.Logger LOG = System.getLogger(SocketEngine.class.getName());

    private Defects() {}

    /** Runs something of one connection, and logs what it throws. {@return whether it has thrown nothing} */
    static boolean contain(Runnable task) {
        try {
            task.run();
            return true;
        } catch (RuntimeException | Error e) {
            try {
                LOG.log(System.Logger.Level.ERROR, "the connections go on after a defect of one",
                        e);
            } catch (RuntimeException | Error notLogged) {
                // Such as without memory or file descriptors.
            }
            return false;
        }
    }
}
