package io.rdma4j.observe.registry;

import io.rdma4j.observe.jmx.DeviceMXBean;
import org.jspecify.annotations.Nullable;

/**
 * Shows an open device in JMX, and in the system property {@code rdma4j.devices}, by which
 * {@code rdma4j stat} finds this process.
 *
 * <p>JMX shows it as soon as the process has an MBean server, which is not made for it: that takes a quarter of a second.
 * Nothing here ever fails a device, also where there is no JMX. Thread safe.
 */
public final class ShownDevice {
    /** A runtime image may come without JMX. */
    private static final boolean IS_WANTED = ModuleLayer.boot().findModule("java.management")
            .isPresent() && !"false".equals(System.getProperty("rdma4j.jmx"));

    /** Of a class of its own, which is loaded only where there is JMX; null without. */
    private final @Nullable RegisteredBean registered;

    private ShownDevice(@Nullable RegisteredBean registered) {
        this.registered = registered;
    }

    /**
     * {@return a device that was opened, shown until it is hidden}
     *
     * @param bean what is shown; asked by any thread
     */
    public static ShownDevice show(DeviceMXBean bean) {
        return new ShownDevice(IS_WANTED ? RegisteredBean.register(bean) : null);
    }

    /** The device is about to be closed. Idempotent. */
    public void hide() {
        if (registered != null) {
            registered.unregister();
        }
    }
}
