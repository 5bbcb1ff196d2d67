// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.registry;

import io.rdma4j.observe.jmx.DeviceMXBean;

/**
 * Shows an open device in JMX, and in the system property {@code rdma4j.devices}, by which
 * {@code rdma4j stat} finds this process.
 *
 * <p>JMX shows it as soon as the process has an MBean server, which is not made for it: that takes a quarter of a second.
 * Nothing here ever fails a device, also where there is no JMX. Thread safe.
 */
public final class ShownDevice {
    private final ShownBean shown;

    private ShownDevice(ShownBean shown) {
        this.shown = shown;
    }

    /**
     * {@return a device that was opened, shown until it is hidden}
     *
     * @param bean what is shown; asked by any thread
     */
    public static ShownDevice show(DeviceMXBean bean) {
        return new ShownDevice(ShownBean.ofDevice(bean));
    }

    /** The device is about to be closed. Idempotent. */
    public void hide() {
        shown.hide();
    }
}
