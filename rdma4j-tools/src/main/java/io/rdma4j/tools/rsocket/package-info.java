// SPDX-License-Identifier: Apache-2.0
/** Streams over RDMA with rdma-core's rsocket programs: {@code rstream}, {@code riostream} and {@code rcopy}. */
@NullMarked
package io.rdma4j.tools.rsocket;

import org.jspecify.annotations.NullMarked;
