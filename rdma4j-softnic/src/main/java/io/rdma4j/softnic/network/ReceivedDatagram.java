// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;

/** A datagram that arrived with the right ICRC. Reusable; valid while its receiver is called. */
public final class ReceivedDatagram {
    private Gid local = Gid.ZERO;
    private Gid source = Gid.ZERO;
    private int sourcePort;
    private int identification;
    private MemorySegment memory = MemorySegment.NULL;
    private long offset;
    private int length;
    private boolean isPassedOn;

    /** Creates one to be filled. */
    public ReceivedDatagram() {}

    /** Fills it. */
    public ReceivedDatagram fill(Gid newLocal, Gid newSource, int newSourcePort,
            int newIdentification, MemorySegment newMemory, long newOffset, int newLength) {
        local = newLocal;
        source = newSource;
        sourcePort = newSourcePort;
        identification = newIdentification;
        memory = newMemory;
        offset = newOffset;
        length = newLength;
        isPassedOn = false;
        return this;
    }

    /** Marks it as {@linkplain #isPassedOn passed on}. */
    public ReceivedDatagram passedOn() {
        isPassedOn = true;
        return this;
    }

    /**
     * {@return whether it is a copy from another process of this machine, which was not its receiver and does not know
     * whether this one is} Such a copy must not be answered in another's place, nor passed on again.
     */
    public boolean isPassedOn() {
        return isPassedOn;
    }

    /** {@return its destination address} */
    public Gid local() {
        return local;
    }

    /** {@return its source address} */
    public Gid source() {
        return source;
    }

    /** {@return its source UDP port} */
    public int sourcePort() {
        return sourcePort;
    }

    /** {@return the IPv4 Identification, derived from its ICRC} */
    public int identification() {
        return identification;
    }

    /** {@return the memory it is in} */
    public MemorySegment memory() {
        return memory;
    }

    /** {@return the offset at which it starts} */
    public long offset() {
        return offset;
    }

    /** {@return its bytes, ICRC included} */
    public int length() {
        return length;
    }
}
