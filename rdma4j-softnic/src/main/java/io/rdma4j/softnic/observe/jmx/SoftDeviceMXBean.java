package io.rdma4j.softnic.observe.jmx;

import io.rdma4j.observe.jmx.DeviceMXBean;

/** A software device that is open in this process. */
public interface SoftDeviceMXBean extends DeviceMXBean {
    /** {@return the file that packets are recorded in, empty for none} */
    String getCapture();

    /** {@return what happens to the packets it sends, as {@link io.rdma4j.softnic.options.Impairment#parse} reads it} */
    String getImpairment();
}
