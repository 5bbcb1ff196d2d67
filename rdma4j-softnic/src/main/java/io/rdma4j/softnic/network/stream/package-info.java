/**
 * Byte streams: TCP connections that neither block nor are waited for one by one. {@link
 * io.rdma4j.softnic.network.stream.StreamNetwork} is where to start. Knows addresses and bytes, and not what they mean.
 */
@NullMarked
package io.rdma4j.softnic.network.stream;

import org.jspecify.annotations.NullMarked;
