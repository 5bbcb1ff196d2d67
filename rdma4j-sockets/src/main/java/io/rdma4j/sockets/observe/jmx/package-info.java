// SPDX-License-Identifier: Apache-2.0
/**
 * What JMX shows of the sockets of this process.
 *
 * <p>Start reading at {@link io.rdma4j.sockets.observe.jmx.SocketsMXBean}. The package has only interfaces and data; the engine
 * implements the bean. Method names begin with {@code get} because JMX recognizes attributes by this prefix.
 *
 * <p>This package is exported and may change in any version until it is declared stable. The names of the bean and its
 * attributes are contracts: programs and monitors may rely on them.
 */
@NullMarked
package io.rdma4j.sockets.observe.jmx;

import org.jspecify.annotations.NullMarked;
