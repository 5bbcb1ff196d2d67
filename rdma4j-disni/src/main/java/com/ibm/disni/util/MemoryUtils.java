// SPDX-License-Identifier: Apache-2.0
package com.ibm.disni.util;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Takes the place of DiSNI's class of this name, which asks a class of the JDK that programs do not see any more. */
public class MemoryUtils {
    /**
     * {@return where the first byte of a direct buffer is, whatever its position}
     *
     * @throws IllegalArgumentException for a buffer on the heap, whose bytes the collector moves
     */
    public static long getAddress(ByteBuffer buffer) {
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException("a buffer on the heap has no address: use"
                    + " ByteBuffer.allocateDirect");
        }
        return MemorySegment.ofBuffer(buffer.duplicate().clear()).address();
    }
}
