/**
 * What only the software NIC has: packets recorded, a network made worse, the way to the network and to itself.
 *
 * <p>For programs that test with it; {@link io.rdma4j.softnic.options.DeviceOptions} is where to start. Values alone: it
 * knows the verbs and nothing of the NIC.
 */
@NullMarked
package io.rdma4j.softnic.options;

import org.jspecify.annotations.NullMarked;
