// SPDX-License-Identifier: Apache-2.0
/**
 * Software devices of any transport: their properties, how one is opened, and the parts of an open device.
 *
 * <p>A {@link io.rdma4j.softnic.device.DeviceFamily} has what depends on the transport. An open device is a
 * {@link io.rdma4j.softnic.device.SoftNic}, which its contexts share. Knows no transport.
 */
@NullMarked
package io.rdma4j.softnic.device;

import org.jspecify.annotations.NullMarked;
