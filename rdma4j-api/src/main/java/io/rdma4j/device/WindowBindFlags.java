// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;

/** Which flags a bind of a window of type 1 takes. C: {@code ibv_mw_bind.send_flags}. */
public final class WindowBindFlags {
    private static final int ALLOWED = SendFlag.SIGNALED.bit() | SendFlag.FENCE.bit();

    private WindowBindFlags() {}

    /**
     * {@return the bits of {@code ibv_mw_bind.send_flags}}
     *
     * @throws RdmaException EINVAL for a flag that a bind does not take
     */
    public static int bits(SendFlag... flags) throws RdmaException {
        int bits = 0;
        for (SendFlag flag : flags) {
            if ((flag.bit() & ALLOWED) == 0) {
                throw new RdmaException(Errno.EINVAL, "bind memory window",
                        "a bind takes SIGNALED and FENCE, not " + flag);
            }
            bits |= flag.bit();
        }
        return bits;
    }
}
