// SPDX-License-Identifier: Apache-2.0
/**
 * What JMX shows of an open software device in addition to what it shows of any device.
 *
 * <p>Start reading at {@link io.rdma4j.softnic.observe.jmx.SoftDeviceMXBean}. The package has only interfaces and data;
 * the device implements the bean. Method names begin with {@code get} because JMX recognizes attributes by this prefix.
 *
 * <p>This package is exported and may change in any version until it is declared stable. The names of the beans and their
 * attributes are contracts: programs and monitors may rely on them.
 */
@NullMarked
package io.rdma4j.softnic.observe.jmx;

import org.jspecify.annotations.NullMarked;
