// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.endpoint;

/**
 * What two reliably connected queue pairs agree on.
 *
 * @param timeout the acknowledgement time-out, 4.096 us times 2 to this power
 * @param readsAnswered READs and atomics of the peer that are answered at a time
 * @param readsAsked READs and atomics under way to the peer at a time
 */
public record ReliableSettings(int timeout, int readsAnswered, int readsAsked) {}
