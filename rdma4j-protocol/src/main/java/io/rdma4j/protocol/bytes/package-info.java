/** Values as they stand on a wire, whatever travels there. Knows the JDK alone. */
@NullMarked
package io.rdma4j.protocol.bytes;

import org.jspecify.annotations.NullMarked;
