package io.rdma4j.observe.jmx;

import org.jspecify.annotations.Nullable;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
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
    /**
     * When JMX is started, after a device has been opened: it takes as much processor time as half of a connection, which a
     * process has before its first message then, and one that ends soon saves.
     */
    private static final long START_MS = 1_000;
    /** Beans of devices that were opened before JMX has started. Guarded by itself, as is the one thread that starts it. */
    private static final SequencedSet<RegisteredBean> WAITING = new LinkedHashSet<>();
    private static boolean isStarting;
    private static volatile boolean isStarted;

    private final DeviceMXBean bean;
    private @Nullable ObjectName name;
    private boolean isHidden;

    private RegisteredBean(DeviceMXBean bean) {
        this.bean = bean;
    }

    static RegisteredBean register(DeviceMXBean bean) {
        RegisteredBean registered = new RegisteredBean(bean);
        if (isStarted || !waits(registered)) {
            registered.register();
        }
        return registered;
    }

    /** {@return whether a bean is registered later} Otherwise JMX has just started. */
    private static boolean waits(RegisteredBean registered) {
        synchronized (WAITING) {
            if (isStarted) {
                return false;
            }
            WAITING.add(registered);
            if (!isStarting) {
                isStarting = true;
                // JMX may be impossible here, for example because the process may open no more files.
                Thread.ofPlatform().daemon().name("rdma4j-jmx")
                        .uncaughtExceptionHandler((_, e) -> LOG.log(System.Logger.Level.DEBUG,
                                "no JMX for the devices of this process", e))
                        .start(RegisteredBean::startLater);
            }
            return true;
        }
    }

    private static void startLater() {
        try {
            Thread.sleep(START_MS);
        } catch (InterruptedException e) {
            // No code interrupts this thread on purpose.
            Thread.currentThread().interrupt();
        }
        try {
            for (RegisteredBean next = next(); next != null; next = next()) {
                next.register();
            }
        } catch (RuntimeException | Error impossible) {
            synchronized (WAITING) {
                isStarting = false;
            }
            throw impossible;
        }
    }

    /** {@return the next bean that waits; null if there is none, then the thread ends} */
    private static @Nullable RegisteredBean next() {
        synchronized (WAITING) {
            if (WAITING.isEmpty()) {
                isStarting = false;
                return null;
            }
            return WAITING.removeFirst();
        }
    }

    private void register() {
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
        synchronized (WAITING) {
            WAITING.remove(this);
        }
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
