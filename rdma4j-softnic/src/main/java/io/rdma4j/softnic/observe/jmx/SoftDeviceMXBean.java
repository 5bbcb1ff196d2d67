// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.observe.jmx;

import io.rdma4j.observe.jmx.DeviceMXBean;

/** A software device that is open in this process. */
public interface SoftDeviceMXBean extends DeviceMXBean {
    /** {@return the file that records packets, empty for none} */
    String getCapture();

    /**
     * {@return the impairment of the packets it sends, in the format of {@link
     * io.rdma4j.softnic.options.Impairment#parse}}
     */
    String getImpairment();
}
