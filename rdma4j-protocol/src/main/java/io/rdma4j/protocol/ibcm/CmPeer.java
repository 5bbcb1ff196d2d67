// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.verbs.Gid;

/**
 * The two ends that a message travels between.
 *
 * @param local the address of this side
 * @param remote the address of the other
 */
public record CmPeer(Gid local, Gid remote) {}
