/**
 * The software devices of any transport: what one is, how it is opened, and what an open one consists of.
 *
 * <p>A {@link io.rdma4j.softnic.device.DeviceFamily} says what is not the same for all transports; an open device runs as one
 * {@link io.rdma4j.softnic.device.SoftNic}, which its contexts share. Knows no transport.
 */
@NullMarked
package io.rdma4j.softnic.device;

import org.jspecify.annotations.NullMarked;
