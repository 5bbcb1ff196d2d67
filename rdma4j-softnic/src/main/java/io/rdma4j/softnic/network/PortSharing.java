// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;

/**
 * Distinguishes the processes that share UDP port 4791 of one address: by a prefix of 8 bits, with which the queue pair
 * numbers and the communication identifiers of a process begin. Thread safe.
 */
public interface PortSharing {
    /** The number of bits of a queue pair number after the prefix. */
    int QUEUE_PAIR_BITS = 16;

    /** A service's port that is this process's. */
    interface Reservation {
        /** Gives the port back. Idempotent. */
        void release();
    }

    /** Only this process has the port; its numbers may have any bits. */
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
        public void onMisdirected(int queuePair) {
            // No other process has numbers here.
        }

        @Override
        public void listen(int service) {
            // All requests come to this process.
        }

        @Override
        public void listenOnlyForRepetitions(int service) {
            // All requests come to this process.
        }

        @Override
        public void stopListening(int service) {
            // All requests come to this process.
        }

        @Override
        public void check() {
            // Nothing is shared.
        }

        @Override
        public boolean passOn(ReceivedDatagram datagram) {
            return false;
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
     * {@return an additional prefix, for a process that needs more queue pair numbers than one prefix has}
     *
     * @throws RdmaException EAGAIN if all are taken by other processes
     */
    int takePrefix() throws RdmaException;

    /** {@return whether a queue pair's number is one of this process} */
    boolean isOwn(int queuePair);

    /** {@return whether a prefix is that of another process, which lives} */
    boolean isOthers(int prefix);

    /**
     * {@return the prefix of another live process that has an address and listens at a service; 0 if there is none}
     *
     * @param service as in {@link #listen}
     */
    int otherListener(Gid address, int service);

    /**
     * Directs requests for a service to this process. Each call must be undone once, by {@link #listenOnlyForRepetitions}
     * and then {@link #stopListening}.
     *
     * @param service the lower half of its service ID: 16 bits of its port space, 16 of its port; IBTA annex A11.3
     * @throws RdmaException ENOMEM if the processes that share the port listen at too many services
     */
    void listen(int service) throws RdmaException;

    /**
     * The listener is closed, but has requests that may be repeated: they still come here, unless another process listens at
     * the service. Does not wait, so that other processes may notice it later.
     */
    void listenOnlyForRepetitions(int service);

    /** No such requests are left. Does not wait either. */
    void stopListening(int service);

    /**
     * Reserves the port of a service, for all addresses.
     *
     * @param service as in {@link #listen}
     * @throws RdmaException EADDRINUSE naming the process that has it
     */
    Reservation reserve(int service) throws RdmaException;

    /**
     * Must be called when a packet arrived for another process, or an own packet did not arrive: the places of the processes
     * may be out of date. Returns at once.
     *
     * @param queuePair the destination queue pair; 0 if only the sender knows it
     */
    void onMisdirected(int queuePair);

    /**
     * Checks that what this process has entered for others to find is still there, and enters it again if not: another
     * program of the user may have damaged it. To be called about once a second; may wait for other processes.
     */
    void check();

    /**
     * Sends copies of a datagram to all other processes at its destination, because nothing in it tells for which of them it
     * is. They arrive as {@linkplain ReceivedDatagram#isPassedOn passed on}. Returns at once; copies may be lost, as on a
     * network.
     *
     * @return whether there are any others
     */
    boolean passOn(ReceivedDatagram datagram);
}
