// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.Registration;

/** Ends the loans of memory. For the engine's owner. */
public interface Withdrawal {
    /** A registration has ended: nothing that was lent by it is delivered any more. */
    void ended(Registration registration);

    /**
     * Memory is about to end: nothing of it that was lent, by whichever registration, is delivered any more.
     *
     * @param place as {@link Registration#sharedAt}
     */
    void ends(long place, long byteSize);
}
