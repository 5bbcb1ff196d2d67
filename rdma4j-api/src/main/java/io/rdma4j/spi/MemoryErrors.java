// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/** What a device answers when the JVM has no memory for what it was asked. */
public final class MemoryErrors {
    private MemoryErrors() {}

    /** {@return an exception with ENOMEM, for an operation that needs more memory than the process can have} */
    public static RdmaException outOfMemory(String operation, OutOfMemoryError cause) {
        String words = String.valueOf(cause.getMessage());
        return new RdmaException(Errno.ENOMEM, operation,
                "the process has not so much memory: " + words + remedy(words), cause);
    }

    /** {@return what raises the limit; native segments of the JDK count against that of direct buffers} */
    private static String remedy(String words) {
        return words.contains("direct buffer memory")
                ? "; raise the limit by -XX:MaxDirectMemorySize"
                : "";
    }
}
