// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * What a new memory region shall be: memory of the process, of the device or of another device, addresses, rights.
 *
 * <p>C: {@code struct} {@index ibv_mr_init_attr}, {@index ibv_reg_mr_ex}; with device memory
 * {@index ibv_reg_dm_mr}, with a dma-buf {@index ibv_reg_dmabuf_mr}. A mutable object of the caller; the device copies
 * what it needs. One of {@link #segment}, {@link #deviceMemory} and {@link #dmaBuf} must be set.
 *
 * @since 0.1.0
 */
public final class MemoryRegionInitAttributes {
    private @Nullable MemorySegment segment;
    private @Nullable DeviceMemory deviceMemory;
    private long deviceOffset;
    private long deviceLength;
    private @Nullable Integer dmaBuf;
    private long dmaBufOffset;
    private long dmaBufLength;
    private @Nullable Long iova;
    private Set<AccessFlag> access = Set.of();

    /** Creates one in which nothing is set. */
    public MemoryRegionInitAttributes() {}

    /**
     * Creates a copy.
     *
     * @param other what is copied
     */
    public MemoryRegionInitAttributes(MemoryRegionInitAttributes other) {
        segment = other.segment;
        deviceMemory = other.deviceMemory;
        deviceOffset = other.deviceOffset;
        deviceLength = other.deviceLength;
        dmaBuf = other.dmaBuf;
        dmaBufOffset = other.dmaBufOffset;
        dmaBufLength = other.dmaBufLength;
        iova = other.iova;
        access = other.access;
    }

    /**
     * {@return the memory of the process, or null} C: {@index addr of struct ibv_mr_init_attr},
     * {@index length of struct ibv_mr_init_attr}.
     */
    public @Nullable MemorySegment segment() {
        return segment;
    }

    /**
     * Sets the memory of the process: native or mapped, of a shared, automatic or global arena. C:
     * {@code addr}, {@code length}.
     */
    public MemoryRegionInitAttributes segment(@Nullable MemorySegment value) {
        segment = value;
        return this;
    }

    /** {@return the memory of the device, or null} C: {@code ibv_dm}. */
    public @Nullable DeviceMemory deviceMemory() {
        return deviceMemory;
    }

    /**
     * Sets a range of device memory; the region needs {@link AccessFlag#ZERO_BASED}.
     *
     * @param value of the same device context
     * @param offset of the first byte
     * @param length in bytes
     */
    public MemoryRegionInitAttributes deviceMemory(DeviceMemory value, long offset, long length) {
        deviceMemory = value;
        deviceOffset = offset;
        deviceLength = length;
        return this;
    }

    /** {@return where the range of device memory starts} C: {@code dm_offset}. */
    public long deviceOffset() {
        return deviceOffset;
    }

    /** {@return the bytes of the range of device memory} C: {@index length of struct ibv_mr_init_attr}. */
    public long deviceLength() {
        return deviceLength;
    }

    /**
     * {@return the descriptor of the dma-buf, or null} C: {@index fd of struct ibv_mr_init_attr} of
     * {@index ibv_reg_dmabuf_mr}.
     */
    @Experimental
    public @Nullable Integer dmaBuf() {
        return dmaBuf;
    }

    /**
     * Sets a range of the memory of another device, such as a graphics card, whose driver exports it as a dma-buf. The
     * process cannot access it through the region, whose segment is {@link MemorySegment#NULL}. C:
     * {@index fd of struct ibv_mr_init_attr}, {@index fd_offset of struct ibv_mr_init_attr} and
     * {@index length of struct ibv_mr_init_attr}; the same arguments of {@index ibv_reg_dmabuf_mr}.
     *
     * @param fd the descriptor of the dma-buf; it belongs to the caller, who may close it when the region is registered
     * @param offset where in the dma-buf the region begins, in bytes; without {@link #iova(long)} also the address of the
     *        first byte for work requests and peers, otherwise equally far into a page as that address
     * @param length bytes of the region, from 1
     */
    @Experimental
    public MemoryRegionInitAttributes dmaBuf(int fd, long offset, long length) {
        dmaBuf = fd;
        dmaBufOffset = offset;
        dmaBufLength = length;
        return this;
    }

    /** {@return where in the dma-buf the region begins} C: {@index fd_offset of struct ibv_mr_init_attr}. */
    @Experimental
    public long dmaBufOffset() {
        return dmaBufOffset;
    }

    /**
     * {@return the bytes of the range of the dma-buf} C: {@index length of struct ibv_mr_init_attr} of
     * {@index ibv_reg_dmabuf_mr}.
     */
    @Experimental
    public long dmaBufLength() {
        return dmaBufLength;
    }

    /**
     * {@return the address of the first byte as the caller chose it, or null} C:
     * {@index iova of struct ibv_mr_init_attr}.
     */
    public @Nullable Long iova() {
        return iova;
    }

    /**
     * Sets the address of the first byte, as work requests and peers shall count. C:
     * {@index iova of struct ibv_mr_init_attr}.
     */
    public MemoryRegionInitAttributes iova(long value) {
        iova = value;
        return this;
    }

    /** {@return what may be done} C: {@index access of struct ibv_mr_init_attr}. */
    public Set<AccessFlag> access() {
        return access;
    }

    /** Sets what may be done. C: {@index access of struct ibv_mr_init_attr}. */
    public MemoryRegionInitAttributes access(Set<AccessFlag> value) {
        access = Set.copyOf(value);
        return this;
    }

    /** Sets what may be done. */
    public MemoryRegionInitAttributes access(AccessFlag... value) {
        return access(FlagSets.of(AccessFlag.class, value));
    }

    @Override
    public String toString() {
        String place = segment != null ? "segment of " + segment.byteSize() + " bytes"
                : deviceMemory != null
                        ? deviceLength + " bytes from " + deviceOffset + " of " + deviceMemory
                        : dmaBuf != null
                                ? dmaBufLength + " bytes from " + dmaBufOffset + " of dma-buf "
                                        + dmaBuf
                                : "no memory yet";
        return "memory region: " + place
                + (iova == null ? "" : String.format(" at 0x%x", iova)) + ", access " + access;
    }
}
