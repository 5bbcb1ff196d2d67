package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;

/**
 * What keeps apart the processes that share UDP port 4791 of one address: a prefix of 8 bits, which the queue pair numbers
 * and the communication identifiers of a process begin with. Thread safe.
 */
public interface PortSharing {
    /** The bits of a queue pair's number behind the prefix. */
    int QUEUE_PAIR_BITS = 16;

    /** A service's port that is this process's. */
    interface Reservation {
        /** Gives the port back. Idempotent. */
        void release();
    }

    /** The port is this process's alone; its numbers may have any bits. */
    PortSharing NONE = new PortSharing() {
        @Override
        public boolean isShared() {
            return false;
        }

        @Override
        public int prefix() {
            return 0;
        }

        @Override
        public int takePrefix() throws RdmaException {
            throw new RdmaException(Errno.ENOMEM, "create queue pair",
                    "all queue pair numbers are in use");
        }

        @Override
        public boolean isOwn(int queuePair) {
            return true;
        }

        @Override
        public boolean isOthers(int prefix) {
            return false;
        }

        @Override
        public int otherListener(Gid address, int service) {
            return 0;
        }

        @Override
        public void onAstray(int queuePair) {
            // Nobody else has a number here.
        }

        @Override
        public void listen(int service) {
            // All requests come here.
        }

        @Override
        public void stopListening(int service) {
            // All requests come here.
        }

        @Override
        public Reservation reserve(int service) {
            return () -> {};
        }
    };

    /** {@return whether other processes may have the port as well} */
    boolean isShared();

    /** {@return the prefix that this process begins with} */
    int prefix();

    /**
     * {@return a prefix more, for a process that needs more queue pairs than one has numbers for}
     *
     * @throws RdmaException EAGAIN if all are taken by other processes
     */
    int takePrefix() throws RdmaException;

    /** {@return whether a queue pair's number is one of this process} */
    boolean isOwn(int queuePair);

    /** {@return whether a prefix is that of another process, which lives} */
    boolean isOthers(int prefix);

    /**
     * {@return the prefix of the other process, which lives and has an address, that listens at a service; 0 if there is none}
     *
     * @param service as in {@link #listen}
     */
    int otherListener(Gid address, int service);

    /**
     * Requests for a service come to this process from now on. To be undone as often as it was called.
     *
     * @param service the lower half of its service ID: 16 bits of its port space, 16 of its port; IBTA annex A11.3
     * @throws RdmaException ENOMEM if the processes that share the port listen at too many services
     */
    void listen(int service) throws RdmaException;

    /** Undoes one {@link #listen}. */
    void stopListening(int service);

    /**
     * Takes a service's port, whichever address it is for.
     *
     * @param service as in {@link #listen}
     * @throws RdmaException EADDRINUSE naming the process that has it
     */
    Reservation reserve(int service) throws RdmaException;

    /**
     * A packet arrived that is not for this process, or one of its own did not arrive: if it is for another one, the processes
     * are not where they were. Returns at once.
     *
     * @param queuePair that it was for; 0 if only its sender knows
     */
    void onAstray(int queuePair);
}
