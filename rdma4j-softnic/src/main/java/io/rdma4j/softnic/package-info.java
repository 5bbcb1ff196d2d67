/**
 * The software NIC as a provider of devices: one for each network interface.
 *
 * <p>{@link io.rdma4j.softnic.SoftProvider} lists devices; an open device runs as one {@code SoftNic},
 * shared by its contexts; the other types are the verbs' objects, each checking its arguments and passing
 * on to engine, memory and queues. Whatever changes an object runs as the owner of the engine, so objects
 * need no locks of their own.
 */
@NullMarked
package io.rdma4j.softnic;

import org.jspecify.annotations.NullMarked;
