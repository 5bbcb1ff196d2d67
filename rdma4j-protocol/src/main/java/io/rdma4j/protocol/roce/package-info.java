// SPDX-License-Identifier: Apache-2.0
/**
 * What a RoCEv2 queue pair needs in addition to {@code io.rdma4j.protocol.work}, such as packets
 * and round-trip estimates. The wire format, the reliable and the unreliable services are subpackages.
 */
@NullMarked
package io.rdma4j.protocol.roce;

import org.jspecify.annotations.NullMarked;
