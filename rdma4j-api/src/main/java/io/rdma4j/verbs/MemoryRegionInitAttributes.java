package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * What a new memory region shall be: memory of the process or of the device, addresses, rights.
 *
 * <p>C: {@code struct ibv_mr_init_attr}, {@code ibv_reg_mr_ex}; with device memory
 * {@code ibv_reg_dm_mr}. A mutable object of the caller. Either {@link #segment} or
 * {@link #deviceMemory} must be set, not both.
 */
public final class MemoryRegionInitAttributes {
    private @Nullable MemorySegment segment;
    private @Nullable DeviceMemory deviceMemory;
    private long deviceOffset;
    private long deviceLength;
    private @Nullable Long iova;
    private Set<AccessFlag> access = Set.of();

    /** Creates one in which nothing is set. */
    public MemoryRegionInitAttributes() {}

    /** {@return the memory of the process, or null} C: {@code addr}, {@code length}. */
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

    /** Sets a range of device memory; the region needs {@link AccessFlag#ZERO_BASED}. */
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

    /** {@return the bytes of the range of device memory} C: {@code length}. */
    public long deviceLength() {
        return deviceLength;
    }

    /** {@return the address of the first byte as the caller chose it, or null} C: {@code iova}. */
    public @Nullable Long iova() {
        return iova;
    }

    /** Sets the address of the first byte, as work requests and peers shall count. C: {@code iova}. */
    public MemoryRegionInitAttributes iova(long value) {
        iova = value;
        return this;
    }

    /** {@return what may be done} C: {@code access}. */
    public Set<AccessFlag> access() {
        return access;
    }

    /** Sets what may be done. C: {@code access}. */
    public MemoryRegionInitAttributes access(Set<AccessFlag> value) {
        access = Set.copyOf(value);
        return this;
    }

    /** Sets what may be done. */
    public MemoryRegionInitAttributes access(AccessFlag... value) {
        return access(Set.of(value));
    }
}
