/**
 * The software devices of this machine: what there is, how it is opened, and what an open one consists of.
 *
 * <p>{@link io.rdma4j.softnic.device.SoftProvider} lists devices, one for each network interface; an open one runs as one
 * {@link io.rdma4j.softnic.device.SoftNic}, which its contexts share. The top of this module: it puts the other
 * packages together, and none of them knows it.
 */
@NullMarked
package io.rdma4j.softnic.device;

import org.jspecify.annotations.NullMarked;
