package io.rdma4j.softnic.verbs;

import io.rdma4j.protocol.work.Memory;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.spi.QueuePairTransitions;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.Set;

/**
 * What carries the work of a device's queue pairs, and connects them: all that is not the same for devices of every transport.
 * For the engine's owner, where nothing else is said.
 */
public interface Transport {
    /** {@return the engine whose queue pairs send and receive by it} */
    Engine engine();

    /** {@return how its queue pairs are connected} */
    ConnectionServices connections();

    /** {@return which states its queue pairs go through, and with which attributes} Any thread may ask. */
    QueuePairTransitions transitions();

    /** {@return what the device tells of itself} Any thread may ask. */
    DeviceDescription description();

    /** Ends all connections, as they end when the process does. */
    void endConnections(long nowNs);

    /** Gives back what the system gave. Nothing is sent or received any more. */
    void close();

    // ---------------------------------------------------------------- addresses

    /**
     * Makes an address one that it sends from and answers to. Any thread may, one at a time.
     *
     * @throws RdmaException EADDRINUSE if another process has it, EADDRNOTAVAIL if the system does not give it now
     */
    Gid hold(InetAddress address) throws RdmaException;

    /** {@return who has an address that cannot be held, and what can be done about it, for people} Any thread may ask. */
    String holder(InetAddress taken);

    /** {@return whether it holds an address} */
    boolean holds(Gid address);

    /** Sends nothing more from an address, and does not answer to it. */
    void release(Gid address);

    /** {@link #release Releases} all addresses, and groups. */
    void releaseAll();

    // ---------------------------------------------------------------- queue pairs

    /** {@return what queue pairs of a type can do; nothing if there are none of that type} Any thread may ask. */
    Set<SendOpcode> operations(QueuePairType type);

    /**
     * Sees to it that there are numbers for new queue pairs. Any thread may, but not as the engine's owner: it may wait for
     * other processes.
     *
     * @throws RdmaException EAGAIN if this process has used up its numbers, and other processes have the rest
     */
    void prepareQueuePairNumbers() throws RdmaException;

    /** {@return a number for a new queue pair} */
    int newQueuePairNumber();

    /** {@return a queue pair that sends and receives by it} Whoever asks attaches it to the engine. */
    EngineQueuePair newQueuePair(QueuePairType type, int number, QueuePairQueues queues,
            Memory memory, EngineQueuePair.Listener listener);

    /** {@return what it does for UD queue pairs; null if it has none} Any thread may ask. */
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
