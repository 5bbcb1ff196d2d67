// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * What shall change of a memory region; what is not set stays.
 *
 * <p>C: the {@code flags}, of {@code enum} {@index ibv_rereg_mr_flags}, and arguments of {@index ibv_rereg_mr}. A mutable
 * object of the caller; the device copies what it needs.
 *
 * @since 0.1.0
 */
public final class MemoryRegionChanges {
    private @Nullable MemorySegment segment;
    private @Nullable ProtectionDomain protectionDomain;
    private @Nullable Set<AccessFlag> access;

    /** Creates one in which nothing changes. */
    public MemoryRegionChanges() {}

    /**
     * Creates a copy.
     *
     * @param other what is copied
     */
    public MemoryRegionChanges(MemoryRegionChanges other) {
        segment = other.segment;
        protectionDomain = other.protectionDomain;
        access = other.access;
    }

    /** {@return the new memory, or null} C: {@index IBV_REREG_MR_CHANGE_TRANSLATION}. */
    public @Nullable MemorySegment segment() {
        return segment;
    }

    /**
     * Sets other memory. Addresses count from its native address, or from 0 if the region is zero-based. C:
     * {@code IBV_REREG_MR_CHANGE_TRANSLATION}, {@code addr}, {@code length}.
     */
    public MemoryRegionChanges segment(@Nullable MemorySegment value) {
        segment = value;
        return this;
    }

    /** {@return the new domain, or null} C: {@index IBV_REREG_MR_CHANGE_PD}. */
    public @Nullable ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /** Sets another domain of the same device. C: {@index IBV_REREG_MR_CHANGE_PD}, {@code pd}. */
    public MemoryRegionChanges protectionDomain(@Nullable ProtectionDomain value) {
        protectionDomain = value;
        return this;
    }

    /** {@return the new rights, or null} C: {@index IBV_REREG_MR_CHANGE_ACCESS}. */
    public @Nullable Set<AccessFlag> access() {
        return access;
    }

    /** Sets other rights, in place of all that the region has. C: {@index IBV_REREG_MR_CHANGE_ACCESS}, {@code access}. */
    public MemoryRegionChanges access(Set<AccessFlag> value) {
        access = Set.copyOf(value);
        return this;
    }

    /** Sets other rights, in place of all that the region has; none for local reading alone. */
    public MemoryRegionChanges access(AccessFlag... value) {
        return access(FlagSets.of(AccessFlag.class, value));
    }

    @Override
    public String toString() {
        return "memory region changes:"
                + (segment == null ? "" : " segment of " + segment.byteSize() + " bytes")
                + (protectionDomain == null ? "" : " to " + protectionDomain)
                + (access == null ? "" : " access " + access);
    }
}
