// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.io.Serial;

/**
 * A connection failed because the device found no listener at the destination, and another device of this machine sees one
 * there, for connections of another transport.
 *
 * <p>An id that names no device takes that one if it resolves the same destination within the next 30 seconds, unless that one
 * has failed to connect as well, or the first one has connected. So a program closes the failed id and takes all steps once
 * more with a new one:
 *
 * <pre>
 * try {
 *     connect(server);
 * } catch (OtherDeviceException e) {
 *     connect(server);
 * }
 * </pre>
 *
 * It is thrown by {@link CmId#connect} of a synchronous id and made by {@link CmEvent#failure}; never for an id that names a
 * device, or that was bound before its destination was known.
 *
 * @since 0.1.0
 */
public final class OtherDeviceException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String device;

    OtherDeviceException(Errno errno, String operation, String detail, String device) {
        super(errno, operation, detail);
        this.device = device;
    }

    /** {@return the name of the other device} */
    public String device() {
        return device;
    }
}
