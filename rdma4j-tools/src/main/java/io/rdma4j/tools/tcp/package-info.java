/**
 * How two sides of a tool talk over TCP before they talk over RDMA.
 *
 * <p>{@code OutOfBandChannel} listens, accepts, connects, passes bytes and ends, with bounded waits; what is said is the
 * tool's own. Knows the JDK alone.
 */
@NullMarked
package io.rdma4j.tools.tcp;

import org.jspecify.annotations.NullMarked;
