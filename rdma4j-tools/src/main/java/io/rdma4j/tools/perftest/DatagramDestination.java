// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.AddressHandle;

/**
 * Who a queue pair's datagrams go to.
 *
 * @param handle the way there; the owner of the queue pair closes it
 * @param queuePair the peer's number
 * @param qkey what its queue pair expects
 */
record DatagramDestination(AddressHandle handle, int queuePair, int qkey) {}
