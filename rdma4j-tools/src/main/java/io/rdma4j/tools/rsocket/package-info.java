/** Streams over RDMA with rdma-core's rsocket programs: {@code rstream} and {@code rcopy}. */
@NullMarked
package io.rdma4j.tools.rsocket;

import org.jspecify.annotations.NullMarked;
