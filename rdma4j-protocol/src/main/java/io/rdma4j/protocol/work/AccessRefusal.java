// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

/** Why an access by the peer is not allowed. */
public enum AccessRefusal {
    /** Nothing has this key, or what had it is gone. */
    INVALID_KEY,
    /** The key is another protection domain's, or bound to another queue pair. */
    OTHER_DOMAIN,
    /** The memory may not be accessed so. */
    NOT_ALLOWED,
    /** It reaches beyond the memory. */
    OUT_OF_BOUNDS
}
