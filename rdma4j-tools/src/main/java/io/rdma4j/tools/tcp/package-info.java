/**
 * How two sides of a tool meet over TCP before they meet over RDMA.
 *
 * <p>{@code Meeting} listens, accepts and connects, with bounded waits; what is said then is the tool's own. Knows the
 * JDK alone.
 */
@NullMarked
package io.rdma4j.tools.tcp;

import org.jspecify.annotations.NullMarked;
