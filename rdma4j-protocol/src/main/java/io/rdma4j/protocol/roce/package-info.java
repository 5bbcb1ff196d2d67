/**
 * RoCEv2: what a queue pair of it needs besides the queues of {@link io.rdma4j.protocol.work}, as packets
 * and paths. The wire format, the reliable and the unreliable services are packages of their own below.
 */
@NullMarked
package io.rdma4j.protocol.roce;

import org.jspecify.annotations.NullMarked;
