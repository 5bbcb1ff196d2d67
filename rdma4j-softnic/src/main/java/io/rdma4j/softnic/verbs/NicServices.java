package io.rdma4j.softnic.verbs;

import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.memory.FileFlusher;
import io.rdma4j.softnic.memory.MemoryTable;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.spi.CmContext;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;

import java.util.Map;
import java.util.Set;

/** What the verbs' objects need of the open device they belong to. */
public interface NicServices extends CompletionRing.Clock {
    /** {@return the device that was opened} */
    RdmaDevice device();

    /** {@return its port} */
    PortServices port();

    /** {@return who runs the engine} */
    EngineDriver driver();

    /** {@return what carries the work of queue pairs} */
    Transport transport();

    /** {@return what keys stand for} */
    MemoryTable memory();

    /** {@return who writes mapped memory to its files} */
    FileFlusher flusher();

    /** {@return all objects of the device in this process, by kind} For the engine's owner. */
    ChildCounts totals();

    /** {@return the queue pairs there are, for any thread} */
    Set<SoftQueuePair> queuePairs();

    /**
     * Takes device memory. For the engine's owner.
     *
     * @throws RdmaException ENOMEM if there is not so much left
     */
    void takeDeviceMemory(long byteSize) throws RdmaException;

    /** Gives device memory back. For the engine's owner. */
    void releaseDeviceMemory(long byteSize);

    /** {@return what is to be known of the device besides its attributes, by name, for people} */
    Map<String, String> details();

    /** Says who wants to hear of lost addresses and of the end of the device. */
    void watch(CmContext.Watcher watcher);

    /** Tells it nothing more. */
    void forget(CmContext.Watcher watcher);

    /** A context was closed. */
    void release(SoftDeviceContext context);
}
