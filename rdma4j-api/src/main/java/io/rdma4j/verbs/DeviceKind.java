// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * Whether the operating system or this process does a device's work. If several devices serve an address, the first kind here is taken.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum DeviceKind {
    /** The operating system has the device: a network adapter, or a driver that is software, such as rxe and siw of Linux. */
    NATIVE,
    /** This process, on ordinary sockets. */
    SOFTWARE
}
