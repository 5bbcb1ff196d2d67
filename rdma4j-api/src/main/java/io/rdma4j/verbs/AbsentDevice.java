// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * A device that there will be when this machine lets it: such as that of a network interface that is down.
 *
 * @param name the name that it will have
 * @param transport the transport that its queue pairs will have
 * @param reason why it is not there, in one line that says what to do
 * @since 0.1.0
 */
public record AbsentDevice(String name, TransportType transport, String reason) {}
