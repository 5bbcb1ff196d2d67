// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.options;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;

/** A device of the software NIC. */
public interface SoftwareDevice extends RdmaDevice {
    /**
     * Opens it with options. As {@link DeviceOptions#open}.
     *
     * @throws RdmaException EBUSY if it is open in this process with other options, and as {@link #open()}
     */
    DeviceContext open(DeviceOptions options) throws RdmaException;
}
