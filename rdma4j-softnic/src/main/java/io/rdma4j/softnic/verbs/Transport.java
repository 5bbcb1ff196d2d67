// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.spi.QueuePairTransitions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.Set;

/**
 * The transport of a device: carries the work of its queue pairs, and connects them. It has everything that differs between
 * transports. For the engine's owner, except where a method says otherwise.
 */
public interface Transport {
    /** {@return the engine of its queue pairs} */
    Engine engine();

    /** {@return how its queue pairs are connected} */
    ConnectionServices connections();

    /** {@return the state transitions of its queue pairs, with their attributes} For any thread. */
    QueuePairTransitions transitions();

    /** {@return the description of the device} For any thread. */
    DeviceDescription description();

    /** Ends all connections, as they end when the process does. */
    void endConnections(long nowNs);

    /** Releases all resources of the system. Nothing is sent or received any more. */
    void close();

    /**
     * Checks what it shares with other processes of this machine, and restores it. To be called about once a second, by any
     * thread but the engine's owner: it may wait for other processes.
     */
    default void checkShared() {
        // Most transports share nothing.
    }

    /** {@return what the device counts} For any thread. */
    Set<Counter> counters();

    /** {@return what its queue pairs of a type count} For any thread. */
    Set<Counter> counters(QueuePairType type);

    // ---------------------------------------------------------------- addresses

    /**
     * Claims an address to send from and to receive at. For any thread, one at a time.
     *
     * @throws RdmaException EADDRINUSE if another process has it, EADDRNOTAVAIL if the system does not provide it now
     */
    Gid hold(InetAddress address) throws RdmaException;

    /** {@return a text for people that names the process with an address, and says what can be done} For any thread. */
    String holder(InetAddress taken);

    /** {@return whether another program has what is needed for an address at every address of this machine} For any thread. */
    default boolean isTakenEverywhere() {
        return false;
    }

    /** {@return whether several processes can have the same address} */
    boolean sharesAddresses();

    /** {@return whether it holds an address} */
    boolean holds(Gid address);

    /** Releases an address: no longer sends from it or receives at it. */
    void release(Gid address);

    /** {@link #release Releases} all addresses, and groups. */
    void releaseAll();

    // ---------------------------------------------------------------- queue pairs

    /** {@return the operations of queue pairs of a type; empty if the type is not supported} For any thread. */
    Set<SendOpcode> operations(QueuePairType type);

    /** {@return why queue pairs of a type cannot do something} For any thread. */
    default RdmaException notOffered(String operation, QueuePairType type, SendOpcode opcode) {
        for (QueuePairType other : QueuePairType.values()) {
            if (operations(other).contains(opcode)) {
                return new RdmaException(Errno.EINVAL, operation,
                        "queue pairs of type " + type + " cannot do " + opcode);
            }
        }
        return RdmaException.unsupported(operation, "this device does not offer " + opcode);
    }

    /**
     * Ensures that there are numbers for new queue pairs. For any thread, but not for the engine's owner: it may wait for
     * other processes.
     *
     * @throws RdmaException EAGAIN if this process has used up its numbers, and other processes have the rest
     */
    void prepareQueuePairNumbers() throws RdmaException;

    /** {@return a number for a new queue pair} */
    int newQueuePairNumber();

    /** {@return a new queue pair, which the caller attaches to the engine} */
    EngineQueuePair newQueuePair(QueuePairType type, int number, QueuePairQueues queues,
            Memory memory, EngineQueuePair.Listener listener);

    /** {@return the services for UD queue pairs; null if it has none} For any thread. */
    @Nullable
    UnreliableDatagrams datagrams();

    /**
     * Makes a queue pair a member of a multicast group.
     *
     * @param blocksMulticastLoopback whether its own datagrams are kept from it
     * @throws RdmaException ENOMEM if the device is in all groups it can be in
     */
    void join(Gid group, EngineQueuePair queuePair, boolean blocksMulticastLoopback)
            throws RdmaException;

    /** Ends a membership. */
    void leave(Gid group, EngineQueuePair queuePair);
}
