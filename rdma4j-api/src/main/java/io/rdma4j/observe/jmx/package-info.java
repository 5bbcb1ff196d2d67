// SPDX-License-Identifier: Apache-2.0
/**
 * What JMX shows of any open device.
 *
 * <p>Start reading at {@link io.rdma4j.observe.jmx.DeviceMXBean}; a device registers itself. The package has only
 * interfaces and data, and knows only the JDK. Method names begin with {@code get} because JMX recognizes attributes by
 * this prefix.
 *
 * <p>This package is exported and may change in any version until it is declared stable. The names of the beans and their
 * attributes are contracts: programs and monitors may rely on them.
 */
@NullMarked
package io.rdma4j.observe.jmx;

import org.jspecify.annotations.NullMarked;
