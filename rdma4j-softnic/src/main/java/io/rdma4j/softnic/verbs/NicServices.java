// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.memory.FileFlusher;
import io.rdma4j.softnic.memory.MemoryTable;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.spi.CmContext;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.RdmaDevice;

import java.util.Map;

/** What the objects of the verbs need of their open device. */
public interface NicServices extends CompletionRing.Clock {
    /** {@return the device that was opened} */
    RdmaDevice device();

    /** {@return its port} */
    PortServices port();

    /** {@return the driver of the engine} */
    EngineDriver driver();

    /** {@return the transport of the queue pairs} */
    Transport transport();

    /** {@return the largest path MTU whose packets fit the interface, by whichever IP version} */
    default Mtu activeMtu() {
        // The headers of IPv6 are longer.
        return largestMtu(false);
    }

    /** {@return the largest path MTU whose packets of an IP version fit the interface} */
    default Mtu largestMtu(boolean isIpv4) {
        return transport().description().largestMtu(port().mtuBytes(), isIpv4);
    }

    /** {@return the memory by key} */
    MemoryTable memory();

    /** {@return the flusher of mapped files} */
    FileFlusher flusher();

    /** {@return all objects of the device in this process} */
    NicObjects objects();

    /** {@return facts about the device besides its attributes, by name, as text for people} */
    Map<String, String> details();

    /** Adds a watcher of lost addresses and of the end of the device. */
    void watch(CmContext.Watcher watcher);

    /** Removes a watcher. */
    void forget(CmContext.Watcher watcher);

    /** A context was closed. */
    void release(CmContext context);
}
