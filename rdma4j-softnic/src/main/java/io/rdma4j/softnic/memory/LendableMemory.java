// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.Registration;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory of a device that other processes of this machine can be lent, so that they read a payload where it is. */
public interface LendableMemory extends Withdrawal {
    /** None at all. */
    LendableMemory NONE = new LendableMemory() {
        @Override
        public @Nullable MemorySegment allocate(long byteSize, Arena arena) {
            return null;
        }

        @Override
        public long placeOf(MemorySegment memory) {
            return Registration.NOT_SHARED;
        }

        @Override
        public void ended(Registration registration) {}

        @Override
        public void ends(long place, long byteSize) {}
    };

    /**
     * Allocates memory. For any thread.
     *
     * @param arena frees it when it is closed
     * @return zeros, aligned to a page; null if other memory is to be used, because there is none of this, or so little is
     *         asked for that it would not be lent
     */
    @Nullable
    MemorySegment allocate(long byteSize, Arena arena);

    /** {@return as {@link Registration#sharedAt}, for memory that is about to be registered} For any thread. */
    long placeOf(MemorySegment memory);
}
