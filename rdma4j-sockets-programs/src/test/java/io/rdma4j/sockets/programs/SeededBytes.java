// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import java.util.Random;

/** What programs send: bytes that show whether any is missing, or at the wrong place. */
final class SeededBytes {
    private SeededBytes() {}

    /** {@return as many bytes, the same for the same seed} */
    static byte[] of(int seed, int count) {
        byte[] bytes = new byte[count];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
