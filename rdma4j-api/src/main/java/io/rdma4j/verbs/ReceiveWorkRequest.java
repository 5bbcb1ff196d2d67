// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * A request to a receive queue: memory for the next message.
 *
 * <p>C: {@code struct} {@index ibv_recv_wr}. A reusable object of the caller: the device copies it when it is
 * posted. The memory it names belongs to the device until the request completes. Not thread safe.
 *
 * @since 0.1.0
 */
public final class ReceiveWorkRequest {
    private final ScatterGatherList elements = new ScatterGatherList();
    private long id;

    /** Creates a request without memory. */
    public ReceiveWorkRequest() {}

    /** Makes this a request without memory again. */
    public ReceiveWorkRequest clear() {
        elements.clear();
        id = 0;
        return this;
    }

    /**
     * {@return the caller's number, which comes back in {@link WorkCompletion#id()}} C:
     * {@index wr_id of struct ibv_recv_wr}.
     */
    public long id() {
        return id;
    }

    /**
     * Sets the caller's number ({@code wr_id}). It can be the index of a connection or buffer in an array of the program, which
     * finds it then without a look-up by {@link WorkCompletion#queuePairNumber}.
     */
    public ReceiveWorkRequest id(long value) {
        id = value;
        return this;
    }

    /**
     * {@return the memory to receive into} C: {@index sg_list of struct ibv_recv_wr},
     * {@index num_sge of struct ibv_recv_wr}.
     */
    public ScatterGatherList elements() {
        return elements;
    }

    /**
     * Appends a range of a region; {@code offset} counts from the region's start.
     *
     * @param region where the bytes are to go
     * @param offset of the first byte
     * @param length in bytes
     */
    public ReceiveWorkRequest add(MemoryRegion region, long offset, long length) {
        elements.add(region.address() + offset, length, region.lkey());
        return this;
    }

    /**
     * Appends a range of registered memory.
     *
     * @param address of the first byte
     * @param length in bytes
     * @param lkey the key of this side's memory
     */
    public ReceiveWorkRequest add(long address, long length, int lkey) {
        elements.add(address, length, lkey);
        return this;
    }

    /**
     * Appends a range of registered memory.
     *
     * @param element where bytes are to go
     */
    public ReceiveWorkRequest add(ScatterGatherElement element) {
        elements.add(element.address(), element.length(), element.lkey());
        return this;
    }

    @Override
    public String toString() {
        return "RECEIVE id=" + id + " elements=" + elements.count() + " bytes="
                + elements.totalLength();
    }
}
