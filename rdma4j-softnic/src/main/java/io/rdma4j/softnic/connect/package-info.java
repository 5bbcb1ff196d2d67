/**
 * The connection manager as a device offers it: listeners, connections and datagram look-ups, each call made as the
 * owner of the engine. Knows no object of the verbs.
 */
@NullMarked
package io.rdma4j.softnic.connect;

import org.jspecify.annotations.NullMarked;
