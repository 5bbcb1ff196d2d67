// SPDX-License-Identifier: Apache-2.0
/**
 * Options that only the software NIC has: packet recording, network impairment, the network back-end and the loopback
 * path.
 *
 * <p>They are for programs that test with the software NIC. Start reading at
 * {@link io.rdma4j.softnic.options.DeviceOptions}. Knows the verbs and nothing of the NIC.
 *
 * <p>This package is exported and may change in any version until it is declared stable.
 */
@NullMarked
package io.rdma4j.softnic.options;

import org.jspecify.annotations.NullMarked;
