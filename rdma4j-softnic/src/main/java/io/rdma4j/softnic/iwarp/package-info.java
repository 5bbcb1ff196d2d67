// SPDX-License-Identifier: Apache-2.0
/**
 * iWARP devices: queue pairs on TCP connections. The connection brings its queue pair up.
 *
 * <p>{@link io.rdma4j.softnic.iwarp.IwarpFamily} describes such devices and opens one. Start reading at
 * {@link io.rdma4j.softnic.iwarp.IwarpTransport}, which the verbs' objects use, and at {@code IwarpLink}, which the engine
 * uses. A {@code StreamConnection} is one TCP connection; an {@code IwarpConnection} sets it up.
 */
@NullMarked
package io.rdma4j.softnic.iwarp;

import org.jspecify.annotations.NullMarked;
