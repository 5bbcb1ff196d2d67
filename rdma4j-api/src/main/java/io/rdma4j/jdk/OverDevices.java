// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.jdk;

/** A {@link java.nio.channels.spi.SelectorProvider} whose channels may need a device, so that no device may be made of them. */
public interface OverDevices {}
