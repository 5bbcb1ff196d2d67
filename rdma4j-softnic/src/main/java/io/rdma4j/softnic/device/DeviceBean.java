package io.rdma4j.softnic.device;

import io.rdma4j.softnic.engine.Counters;
import io.rdma4j.softnic.observe.jmx.DeviceMXBean;
import io.rdma4j.softnic.observe.jmx.QueuePairData;
import io.rdma4j.softnic.verbs.SoftQueuePair;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Shows an open device in JMX, and in the system property {@code rdma4j.devices}, by which
 * {@code rdma4j stat} finds this process.
 *
 * <p>The first use of JMX in a process takes a quarter of a second, so it happens in a thread of its own:
 * opening a device does not wait for it. Nothing here ever fails a device.
 */
final class DeviceBean implements DeviceMXBean {
    private static final System.Logger LOG = System.getLogger(DeviceBean.class.getName());
    private static final String DOMAIN = "io.rdma4j";
    private static final String DEVICES = "rdma4j.devices";
    private static final int MAX_NAMESAKES = 100;
    /** A runtime image may come without JMX. */
    private static final boolean IS_WANTED = ModuleLayer.boot().findModule("java.management")
            .isPresent() && !"false".equals(System.getProperty("rdma4j.jmx"));
    private static volatile boolean isStarted;

    private final SoftNic nic;
    private @Nullable ObjectName name;
    private boolean isHidden;

    private DeviceBean(SoftNic nic) {
        this.nic = nic;
    }

    /** {@return the bean of a device that was opened, null if JMX is not there or not wanted} */
    static @Nullable DeviceBean show(SoftNic nic) {
        if (!IS_WANTED) {
            return null;
        }
        DeviceBean bean = new DeviceBean(nic);
        if (isStarted) {
            bean.register();
        } else {
            Thread.ofPlatform().daemon().name("rdma4j-jmx").start(bean::register);
        }
        return bean;
    }

    private void register() {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        isStarted = true;
        synchronized (this) {
            for (int instance = 1; !isHidden && name == null
                    && instance <= MAX_NAMESAKES; instance++) {
                try {
                    name = server.registerMBean(this, objectName(instance)).getObjectName();
                } catch (InstanceAlreadyExistsException namesake) {
                    // The same device, opened by this project's classes in another class loader.
                } catch (JMException e) {
                    LOG.log(System.Logger.Level.DEBUG, "no JMX for " + nic.device().name(), e);
                    return;
                }
            }
        }
        publishNames(server);
    }

    private ObjectName objectName(int instance) throws JMException {
        String device = nic.device().name();
        boolean isPlain = device.chars().noneMatch(c -> ",=:\"*?\n".indexOf(c) >= 0);
        return new ObjectName(DOMAIN + ":type=Device,name="
                + (isPlain ? device : ObjectName.quote(device))
                + (instance == 1 ? "" : ",instance=" + instance));
    }

    /** The device is about to be closed. */
    void hide() {
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

    // ---------------------------------------------------------------- attributes

    @Override
    public String getName() {
        return nic.device().name();
    }

    @Override
    public List<String> getGids() {
        return nic.gids().stream().filter(gid -> !gid.isZero()).map(Gid::addressText).toList();
    }

    @Override
    public int getContexts() {
        return nic.contexts();
    }

    @Override
    public String getCapture() {
        Path file = nic.options().capture();
        return file == null ? "" : file.toString();
    }

    @Override
    public String getImpairment() {
        return nic.options().impairment().toString();
    }

    @Override
    public Map<String, Long> getCounters() {
        return values(nic.engine().counters());
    }

    @Override
    public int getQueuePairCount() {
        return nic.queuePairs().size();
    }

    @Override
    public List<QueuePairData> getQueuePairs() {
        return nic.queuePairs().stream().map(DeviceBean::data)
                .sorted(Comparator.comparingInt(QueuePairData::number)).toList();
    }

    private static QueuePairData data(SoftQueuePair queuePair) {
        Gid peer = queuePair.peer();
        return new QueuePairData(queuePair.number(), queuePair.type().name(),
                queuePair.lastState().name(), peer == null ? "" : peer.address().getHostAddress(),
                queuePair.peerNumber(), queuePair.way(), values(queuePair.counters()));
    }

    private static Map<String, Long> values(Counters counters) {
        Map<String, Long> values = new LinkedHashMap<>();
        for (Counter counter : Counter.values()) {
            values.put(counter.text(), counters.value(counter));
        }
        return values;
    }
}
