// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.softnic.engine.Permutation;
import io.rdma4j.softnic.engine.QueuePairNumbers;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.verbs.RdmaException;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/**
 * The queue pair numbers and communication identifiers of a process: none comes again soon, also if devices are closed and
 * opened in between. A peer remembers both for a second after a connection has ended, and takes a new connection with
 * one of them for a stale one. Source: IBTA 12.9.8. Thread safe.
 */
final class ProcessNumbers {
    /** Of an identifier; the prefix of the process is in front of them. */
    private static final int BITS_BEHIND_PREFIX = 24;

    private final QueuePairNumbers queuePairs;
    private final Permutation identifiers;
    private final AtomicInteger identifiersTaken = new AtomicInteger();

    /**
     * @param sharing which numbers are this process's
     * @param random numbers that others cannot guess
     */
    ProcessNumbers(PortSharing sharing, IntSupplier random) {
        queuePairs = sharing.isShared()
                ? QueuePairNumbers.behind(sharing.prefix(), random)
                : QueuePairNumbers.all(random);
        identifiers = new Permutation(
                sharing.isShared() ? BITS_BEHIND_PREFIX : Integer.SIZE, random);
    }

    QueuePairNumbers queuePairs() {
        return queuePairs;
    }

    /**
     * Takes another prefix if most queue pair numbers are in use.
     *
     * @throws RdmaException as {@link PortSharing#takePrefix}
     */
    synchronized void extendIfShort(PortSharing sharing) throws RdmaException {
        if (queuePairs.isShort()) {
            queuePairs.add(sharing.takePrefix());
        }
    }

    /** {@return the next communication identifier, without the prefix of the process} */
    int nextIdentifier() {
        return identifiers.of(identifiersTaken.getAndIncrement());
    }
}
