/**
 * The verbs' objects: each checks its arguments and hands on to engine, memory and queues.
 *
 * <p>Whatever changes an object runs as the owner of the engine, so objects need no locks of their own. They know no
 * network and no packet.
 */
@NullMarked
package io.rdma4j.softnic.verbs;

import org.jspecify.annotations.NullMarked;
