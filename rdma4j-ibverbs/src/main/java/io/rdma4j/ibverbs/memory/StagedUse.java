// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

/** That a request in a chain names an object of the library, from when it is written until it is posted. */
public interface StagedUse {
    /**
     * The request was posted or refused.
     *
     * @param isPosted whether the driver has accepted it
     */
    void end(boolean isPosted);
}
