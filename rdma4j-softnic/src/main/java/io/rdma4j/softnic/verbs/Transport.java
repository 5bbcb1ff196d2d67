package io.rdma4j.softnic.verbs;

import io.rdma4j.protocol.work.Memory;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;

import java.util.Set;

/** What carries the work of a device's queue pairs. For the engine's owner. */
public interface Transport {
    /** {@return what queue pairs of a type can do; nothing if there are none of that type} Any thread may ask. */
    Set<SendOpcode> operations(QueuePairType type);

    /**
     * {@return a number for a new queue pair}
     *
     * @throws RdmaException EAGAIN if this process has used up its numbers, and other processes have the rest
     */
    int newQueuePairNumber() throws RdmaException;

    /** {@return a queue pair that sends and receives by it} Whoever asks attaches it to the engine. */
    EngineQueuePair newQueuePair(QueuePairType type, int number, QueuePairQueues queues,
            Memory memory, EngineQueuePair.Listener listener);

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
