// SPDX-License-Identifier: Apache-2.0
/**
 * Byte streams: non-blocking TCP connections, with one wait for all of them. Start reading at
 * {@link io.rdma4j.softnic.network.stream.StreamNetwork}. Knows addresses and bytes, but not what the bytes mean.
 */
@NullMarked
package io.rdma4j.softnic.network.stream;

import org.jspecify.annotations.NullMarked;
