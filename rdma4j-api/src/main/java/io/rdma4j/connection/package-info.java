/**
 * What two sides tell each other to connect, and what may be said.
 *
 * <p>Values of the connection manager that devices know too: parameters of connections and datagram services, port
 * spaces, limits of private data, and the reasons InfiniBand has words for. Knows the verbs' values alone. The
 * connection manager that uses them is {@code io.rdma4j.cm}; start reading at
 * {@link io.rdma4j.connection.ConnectionParameters}.
 */
@NullMarked
package io.rdma4j.connection;

import org.jspecify.annotations.NullMarked;
