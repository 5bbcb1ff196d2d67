package io.rdma4j.observe.jmx;

import org.jspecify.annotations.Nullable;

import java.lang.management.ManagementFactory;
import java.util.stream.Collectors;

import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** A bean on its way into the platform's MBean server, in it, or out of it. */
final class RegisteredBean {
    private static final System.Logger LOG = System.getLogger(RegisteredBean.class.getName());
    private static final String DOMAIN = "io.rdma4j";
    private static final String DEVICES = "rdma4j.devices";
    private static final int MAX_NAMESAKES = 100;
    private static final JmxStart WAITING = new JmxStart();
    private static volatile boolean isStarted;

    private final DeviceMXBean bean;
    private @Nullable ObjectName name;
    private boolean isHidden;

    private RegisteredBean(DeviceMXBean bean) {
        this.bean = bean;
    }

    static RegisteredBean register(DeviceMXBean bean) {
        RegisteredBean registered = new RegisteredBean(bean);
        if (!WAITING.add(registered)) {
            registered.register();
        }
        return registered;
    }

    /** {@return whether a bean is registered at once} */
    static boolean isStarted() {
        return isStarted;
    }

    /** Registers it unless its device has been closed; starts JMX. */
    void register() {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        isStarted = true;
        synchronized (this) {
            for (int instance = 1; !isHidden && name == null
                    && instance <= MAX_NAMESAKES; instance++) {
                try {
                    name = server.registerMBean(bean, objectName(instance)).getObjectName();
                } catch (InstanceAlreadyExistsException namesake) {
                    // The same device, opened by this project's classes in another class loader.
                } catch (JMException e) {
                    LOG.log(System.Logger.Level.DEBUG, "no JMX for " + bean.getName(), e);
                    return;
                }
            }
        }
        publishNames(server);
    }

    private ObjectName objectName(int instance) throws JMException {
        String device = bean.getName();
        boolean isPlain = device.chars().noneMatch(c -> ",=:\"*?\n".indexOf(c) >= 0);
        return new ObjectName(DOMAIN + ":type=Device,name="
                + (isPlain ? device : ObjectName.quote(device))
                + (instance == 1 ? "" : ",instance=" + instance));
    }

    void unregister() {
        WAITING.remove(this);
        synchronized (this) {
            isHidden = true;
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
        publishNames(ManagementFactory.getPlatformMBeanServer());
    }

    private static void publishNames(MBeanServer server) {
        try {
            String names = server.queryNames(new ObjectName(DOMAIN + ":type=Device,*"), null)
                    .stream().map(each -> each.getKeyProperty("name")).sorted()
                    .collect(Collectors.joining(","));
            if (names.isEmpty()) {
                System.clearProperty(DEVICES);
            } else {
                System.setProperty(DEVICES, names);
            }
        } catch (JMException e) {
            throw new IllegalStateException("the name is well formed", e);
        }
    }
}
