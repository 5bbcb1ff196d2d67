/**
 * What a device provider implements, and pieces every device needs alike.
 *
 * <p>Applications do not come here. A provider is found by {@link java.util.ServiceLoader} as a
 * {@link io.rdma4j.spi.RdmaProvider}; a device that connects by the connection manager implements
 * {@link io.rdma4j.spi.CmDevice} and {@link io.rdma4j.spi.CmContext}. Knows the verbs and the names of
 * the connection manager's values, no wire.
 */
@NullMarked
package io.rdma4j.spi;

import org.jspecify.annotations.NullMarked;
