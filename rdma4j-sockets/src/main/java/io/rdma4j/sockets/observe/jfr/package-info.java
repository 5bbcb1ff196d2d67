// SPDX-License-Identifier: Apache-2.0
/**
 * Events of sockets for Java Flight Recorder.
 *
 * <p>This is not part of the interface for programs; the names of the events and their fields are. Start reading at {@link
 * io.rdma4j.sockets.observe.jfr.SocketEvents}: the engine reports to it. While nothing is recorded, a report only reads a flag.
 * Knows numbers and texts alone, and works without the module {@code jdk.jfr}.
 */
@NullMarked
package io.rdma4j.sockets.observe.jfr;

import org.jspecify.annotations.NullMarked;
