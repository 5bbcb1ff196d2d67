// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.registry;

import io.rdma4j.observe.jmx.DeviceMXBean;
import org.jspecify.annotations.Nullable;

import java.lang.management.ManagementFactory;

import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** A bean that waits for the platform's MBean server, is in it, or was taken out of it. */
final class RegisteredBean {
    private static final System.Logger LOG = System.getLogger(RegisteredBean.class.getName());
    private static final String DOMAIN = "io.rdma4j";
    private static final int MAX_NAMESAKES = 100;
    private static final WaitingBeans WAITING = new WaitingBeans();
    private static volatile boolean isStarted;

    private static final String DEVICES = "rdma4j.devices";

    private final Object bean;
    private final String keys;
    private final String property;
    private final String published;
    private @Nullable ObjectName name;
    private boolean isHidden;

    private RegisteredBean(Object bean, String keys, String property, String published) {
        this.bean = bean;
        this.keys = keys;
        this.property = property;
        this.published = published;
    }

    /** Registers a device now, or as soon as this process has an MBean server. */
    static RegisteredBean ofDevice(DeviceMXBean bean) {
        String device = bean.getName();
        boolean isPlain = device.chars().noneMatch(c -> ",=:\"*?\n".indexOf(c) >= 0);
        return register(CountingBean.of(bean),
                "type=Device,name=" + (isPlain ? device : ObjectName.quote(device)),
                DEVICES, device);
    }

    /** Registers the only bean of a type, likewise. */
    static RegisteredBean ofType(Object bean, String type, String property) {
        return register(bean, "type=" + type, property, type);
    }

    private static RegisteredBean register(Object bean, String keys, String property,
            String published) {
        RegisteredBean registered = new RegisteredBean(bean, keys, property, published);
        PublishedNames.add(property, published);
        if (!WAITING.add(registered)) {
            registered.register();
        }
        return registered;
    }

    /** {@return whether a bean is registered at once} */
    static boolean isStarted() {
        return isStarted;
    }

    /** Registers it unless it has been taken out; makes the platform's MBean server if there is none. */
    void register() {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        isStarted = true;
        synchronized (this) {
            for (int instance = 1; !isHidden && name == null
                    && instance <= MAX_NAMESAKES; instance++) {
                try {
                    name = server.registerMBean(bean, objectName(instance)).getObjectName();
                } catch (InstanceAlreadyExistsException namesake) {
                    // The same, opened by this project's classes in another class loader.
                } catch (JMException e) {
                    LOG.log(System.Logger.Level.DEBUG, "no JMX for " + published, e);
                    return;
                }
            }
        }
    }

    private ObjectName objectName(int instance) throws JMException {
        return new ObjectName(
                DOMAIN + ":" + keys + (instance == 1 ? "" : ",instance=" + instance));
    }

    /** Idempotent. */
    void unregister() {
        WAITING.remove(this);
        synchronized (this) {
            if (isHidden) {
                return;
            }
            isHidden = true;
            PublishedNames.remove(property, published);
            if (name == null) {
                return;
            }
            try {
                ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
            } catch (JMException e) {
                LOG.log(System.Logger.Level.DEBUG, "{0} was not in JMX any more", name);
            }
            name = null;
        }
    }
}
