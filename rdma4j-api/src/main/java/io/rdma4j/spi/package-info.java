/**
 * What a device implements for the connection manager, and pieces every device needs alike.
 *
 * <p>Applications do not come here. A provider is found by {@link java.util.ServiceLoader} as a
 * {@link io.rdma4j.verbs.RdmaProvider}; a device that connects by the connection manager implements
 * {@link io.rdma4j.spi.CmDevice} and {@link io.rdma4j.spi.CmContext}, and answers there for everything its transport
 * decides. Knows the verbs, the values of {@code io.rdma4j.connection} and the queues of {@code io.rdma4j.event}; no
 * wire, and nothing of {@code io.rdma4j.cm}.
 */
@NullMarked
package io.rdma4j.spi;

import org.jspecify.annotations.NullMarked;
