/**
 * iWARP devices: queue pairs on TCP connections, each brought up by its connection.
 *
 * <p>{@link io.rdma4j.softnic.iwarp.IwarpFamily} says what such devices are and opens one. Start reading at
 * {@link io.rdma4j.softnic.iwarp.IwarpTransport}, what the verbs' objects see, and at {@code IwarpLink}, what the engine sees; a
 * {@code StreamConnection} is one TCP connection, from its set-up by an {@code IwarpConnection} on.
 */
@NullMarked
package io.rdma4j.softnic.iwarp;

import org.jspecify.annotations.NullMarked;
