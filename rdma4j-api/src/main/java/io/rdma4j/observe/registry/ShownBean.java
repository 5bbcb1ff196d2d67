// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.registry;

import io.rdma4j.observe.jmx.DeviceMXBean;
import org.jspecify.annotations.Nullable;

/**
 * Shows what this process has open in JMX, and in a system property by which {@code rdma4j stat} finds it, as
 * {@link ShownDevice} does for a device. Thread safe.
 */
public final class ShownBean {
    /** A runtime image may come without JMX. */
    private static final boolean IS_WANTED = ModuleLayer.boot().findModule("java.management")
            .isPresent() && !"false".equals(System.getProperty("rdma4j.jmx"));

    /** Of a class of its own, which is loaded only where there is JMX; null without. */
    private final @Nullable RegisteredBean registered;

    private ShownBean(@Nullable RegisteredBean registered) {
        this.registered = registered;
    }

    static ShownBean ofDevice(DeviceMXBean bean) {
        return new ShownBean(IS_WANTED ? RegisteredBean.ofDevice(bean) : null);
    }

    /**
     * {@return the only bean of its type, as {@code io.rdma4j:type=TYPE}, shown until it is hidden}
     *
     * @param bean implements an interface of JMX that is exported; asked by any thread
     * @param property the name of the system property, which holds the type while it is shown
     */
    public static ShownBean show(Object bean, String type, String property) {
        return new ShownBean(IS_WANTED ? RegisteredBean.ofType(bean, type, property) : null);
    }

    /** It is about to be closed. Idempotent. */
    public void hide() {
        if (registered != null) {
            registered.unregister();
        }
    }
}
