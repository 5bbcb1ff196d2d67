// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.observe.jmx.QueuePairData;
import io.rdma4j.protocol.count.Counter;
import io.rdma4j.softnic.observe.jmx.SoftDeviceMXBean;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.management.Attribute;
import javax.management.AttributeNotFoundException;
import javax.management.JMX;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.MBeanServerDelegate;
import javax.management.MBeanServerNotification;
import javax.management.NotificationListener;
import javax.management.ObjectName;
import javax.management.openmbean.TabularData;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Open devices in JMX. */
class DeviceBeanTest {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    private final BlockingQueue<String> news = new LinkedBlockingQueue<>();
    private final NotificationListener listener = (notification, ignored) -> {
        ObjectName about = ((MBeanServerNotification) notification).getMBeanName();
        if (about.getDomain().equals("io.rdma4j")) {
            news.add(notification.getType() + " " + about);
        }
    };

    @BeforeEach
    void listen() throws Exception {
        SERVER.addNotificationListener(MBeanServerDelegate.DELEGATE_NAME, listener, null, null);
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        SERVER.removeNotificationListener(MBeanServerDelegate.DELEGATE_NAME, listener);
        assertThat(SERVER.queryNames(new ObjectName("io.rdma4j:*"), null)).isEmpty();
        assertThat(System.getProperty("rdma4j.devices")).isNull();
    }

    private String nextNews() throws InterruptedException {
        String next = news.poll(20, TimeUnit.SECONDS);
        return next == null ? "nothing in time" : next;
    }

    private static RdmaDevice loopback() throws Exception {
        return RdmaDevices.find("roce_lo");
    }

    @Test
    void deviceIsThereWhileAnyContextIsOpen() throws Exception {
        DeviceContext first = loopback().open();
        assertThat(nextNews())
                .isEqualTo("JMX.mbean.registered io.rdma4j:type=Device,name=roce_lo");
        DeviceContext second = loopback().open();
        first.close();
        assertThat(bean().getContexts()).isOne();
        second.close();
        assertThat(nextNews())
                .isEqualTo("JMX.mbean.unregistered io.rdma4j:type=Device,name=roce_lo");
        assertThat(news).isEmpty();
    }

    @Test
    void recorderAsksForStatisticsOfTheOpenDevice() throws Exception {
        BlockingQueue<RecordedEvent> told = new LinkedBlockingQueue<>();
        try (DeviceContext open = loopback().open();
                RecordingStream stream = new RecordingStream()) {
            stream.enable("io.rdma4j.DeviceStatistics").withPeriod(Duration.ofMillis(20));
            stream.onEvent("io.rdma4j.DeviceStatistics", told::add);
            stream.startAsync();
            RecordedEvent event = told.poll(20, TimeUnit.SECONDS);
            assertThat(event).isNotNull();
            assertThat(event.getString("device")).isEqualTo(open.device().name());
            assertThat(event.getInt("queuePairs")).isZero();
            assertThat(event.getLong("sentBytes")).isNotNegative();
        }
    }

    private static void assertCountersAreNumbers(DeviceContext context) throws Exception {
        ObjectName name = new ObjectName("io.rdma4j:type=Device,name=roce_lo");
        assertThat(SERVER.getMBeanInfo(name).getAttributes())
                .filteredOn(each -> each.getType().equals("java.lang.Long"))
                .extracting(MBeanAttributeInfo::getName)
                .containsExactlyElementsOf(context.counters().keySet());
        assertThat(SERVER.getAttribute(name, "sent_pkts"))
                .isEqualTo(counted(context, Counter.SENT_PKTS));
        assertThat(SERVER.getAttributes(name, new String[]{"rcvd_pkts", "Contexts", "nothing"})
                .asList()).containsExactlyInAnyOrder(
                        new Attribute("rcvd_pkts", counted(context, Counter.RCVD_PKTS)),
                        new Attribute("Contexts", 1));
        assertThatExceptionOfType(AttributeNotFoundException.class)
                .isThrownBy(() -> SERVER.getAttribute(name, "nothing"));
    }

    private static SoftDeviceMXBean bean() throws Exception {
        return JMX.newMXBeanProxy(SERVER, new ObjectName("io.rdma4j:type=Device,name=roce_lo"),
                SoftDeviceMXBean.class);
    }

    @Test
    void deviceShowsAddressesOptionsCountersAndQueuePairs(@TempDir Path directory)
            throws Exception {
        Path capture = directory.resolve("packets");
        DeviceOptions options = DeviceOptions.DEFAULT.withCapture(capture)
                .withImpairment(Impairment.NONE.withLoss(0.001));
        try (DeviceContext context = options.open(loopback());
                CompletionQueue queue = context.createCompletionQueue(4);
                ProtectionDomain domain = context.allocateProtectionDomain();
                QueuePair connected = domain
                        .createQueuePair(new QueuePairInitAttributes().completionQueue(queue));
                QueuePair idle = domain
                        .createQueuePair(new QueuePairInitAttributes().completionQueue(queue))) {
            nextNews();
            connected.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                    .pkeyIndex(0).accessFlags(AccessFlag.REMOTE_READ));
            connected.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                    .addressVector(AddressHandleAttributes.to(context.queryGid(1, 1), 1))
                    .pathMtu(Mtu.MTU_1024).destinationQueuePairNumber(idle.number()).receivePsn(7)
                    .maxDestinationReadAtomic(1).minRnrTimerCode(1));
            SoftDeviceMXBean bean = bean();
            assertThat(bean.getName()).isEqualTo("roce_lo");
            assertThat(bean.getGids()).anyMatch(gid -> gid.startsWith("::ffff:127.0.0."));
            assertThat(bean.getCapture()).isEqualTo(capture.toString());
            assertThat(bean.getImpairment()).isEqualTo("loss=0.001,seed=0");
            assertThat(bean.getCounters()).containsOnlyKeys(
                    Stream.of(Counter.values()).map(Counter::text).toList())
                    .containsEntry("sent_pkts", counted(context, Counter.SENT_PKTS));
            assertThat(bean.getQueuePairCount()).isEqualTo(2);
            assertCountersAreNumbers(context);
            List<QueuePairData> pairs = bean.getQueuePairs();
            assertThat(pairs).extracting(QueuePairData::number)
                    .containsExactlyInAnyOrder(connected.number(), idle.number());
            QueuePairData shown = pairs.stream()
                    .filter(pair -> pair.number() == connected.number()).findFirst().orElseThrow();
            assertThat(shown.type()).isEqualTo("RC");
            assertThat(shown.state()).isEqualTo("RTR");
            assertThat(shown.peerAddress())
                    .isEqualTo(context.queryGid(1, 1).address().getHostAddress());
            assertThat(shown.peerNumber()).isEqualTo(idle.number());
            assertThat(shown.counters()).containsKey("rcvd_pkts");
            // As clients see it that do not have the classes.
            assertThat(SERVER.getAttribute(new ObjectName("io.rdma4j:type=Device,name=roce_lo"),
                    "Counters")).isInstanceOf(TabularData.class);
            assertThat(System.getProperty("rdma4j.devices")).isEqualTo("roce_lo");
        }
    }

    @Test
    void sameDeviceOfAnotherClassLoaderStandsBesideTheFirst() throws Exception {
        URL[] classPath = Stream
                .of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(entry -> {
                    try {
                        return Path.of(entry).toUri().toURL();
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                }).toArray(URL[]::new);
        try (DeviceContext own = loopback().open();
                URLClassLoader loader = new URLClassLoader(classPath,
                        ClassLoader.getPlatformClassLoader())) {
            assertThat(nextNews()).endsWith("name=roce_lo");
            Object device = loader.loadClass(RdmaDevices.class.getName())
                    .getMethod("find", String.class).invoke(null, "roce_lo");
            Object context = loader.loadClass(RdmaDevice.class.getName()).getMethod("open")
                    .invoke(device);
            assertThat(nextNews()).endsWith("name=roce_lo,instance=2");
            loader.loadClass(DeviceContext.class.getName()).getMethod("close").invoke(context);
            assertThat(nextNews())
                    .isEqualTo(
                            "JMX.mbean.unregistered io.rdma4j:type=Device,name=roce_lo,instance=2");
            assertThat(counted(own, Counter.LINK_DOWNED)).isZero();
        }
    }
}
