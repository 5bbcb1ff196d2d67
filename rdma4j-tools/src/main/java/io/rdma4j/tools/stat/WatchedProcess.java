// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import com.sun.tools.attach.VirtualMachineDescriptor;
import org.jspecify.annotations.Nullable;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import javax.management.Attribute;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Another JVM of this user that has devices open, connected to by JMX.
 *
 * <p>System properties of a JVM show whether it has devices or sockets; in other JVMs nothing is started.
 */
final class WatchedProcess implements Closeable {
    private static final String DEVICES = "rdma4j.devices";
    private static final String SOCKETS = "rdma4j.sockets.open";
    /** A few of the seconds in which the process looks once each. */
    private static final long REGISTERED_SECONDS = 3;
    private static final long REGISTERED_LOOK_MS = 50;
    private static final ObjectName DEVICE_BEANS = beans("io.rdma4j:type=Device,*");
    private static final ObjectName SOCKET_BEANS = beans("io.rdma4j:type=Sockets,*");

    private final long pid;
    private final String program;
    private final JMXConnector connector;
    private final CompletableFuture<?> end;
    /** How many beans of sockets it had when it was found, of which the first reading may have to wait. */
    private int awaitedSockets;
    private @Nullable Question<?> asked;

    private WatchedProcess(long pid, String program, JMXConnector connector, int awaitedSockets) {
        this.pid = pid;
        this.program = program;
        this.connector = connector;
        this.awaitedSockets = awaitedSockets;
        // Once: the JDK keeps all that is made of it until the process ends.
        end = ProcessHandle.of(pid).<CompletableFuture<?>>map(ProcessHandle::onExit)
                .orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    /**
     * {@return the JVMs that have devices open} JVMs that refuse access are left out.
     *
     * @param silent called for each JVM that is stopped or does not answer, with words that say so
     * @throws InterruptedException if it is interrupted while it waits for answers; what it has found is closed
     */
    static List<WatchedProcess> all(Consumer<String> silent) throws InterruptedException {
        String own = String.valueOf(ProcessHandle.current().pid());
        List<Question<Optional<WatchedProcess>>> questions = new ArrayList<>();
        for (VirtualMachineDescriptor each : VirtualMachine.list()) {
            if (!each.id().equals(own)) {
                questions.add(opening(each.id(), each.displayName()));
            }
        }
        List<WatchedProcess> found = new ArrayList<>();
        for (Question<Optional<WatchedProcess>> question : questions) {
            try {
                question.await().ifPresent(found::add);
            } catch (TimeoutException noAnswer) {
                question.whenAnswered(WatchedProcess::closeLate);
                silent.accept(noAnswer.getMessage());
            } catch (ExecutionException notForUs) {
                // Ended meanwhile, still starting, or closed to others.
            } catch (InterruptedException e) {
                questions.forEach(each -> each.whenAnswered(WatchedProcess::closeLate));
                throw e;
            }
        }
        found.sort(Comparator.comparingLong(process -> process.pid));
        return found;
    }

    /**
     * {@return one JVM}
     *
     * @throws IOException if there is no such JVM, it has no device open, or it does not answer
     * @throws InterruptedException if it is interrupted while it waits for the answer
     */
    static WatchedProcess of(long pid) throws IOException, InterruptedException {
        String id = String.valueOf(pid);
        String program = VirtualMachine.list().stream().filter(each -> each.id().equals(id))
                .map(VirtualMachineDescriptor::displayName).findFirst().orElse("");
        Question<Optional<WatchedProcess>> question = opening(id, program);
        try {
            return question.await().orElseThrow(
                    () -> new IOException("process " + pid + " has no rdma4j device open"));
        } catch (TimeoutException e) {
            question.whenAnswered(WatchedProcess::closeLate);
            throw new IOException(e.getMessage(), e);
        } catch (ExecutionException e) {
            throw new IOException("process " + pid + " is no running JVM that this user may ask",
                    e);
        } catch (InterruptedException e) {
            question.whenAnswered(WatchedProcess::closeLate);
            throw e;
        }
    }

    /** {@return whether a JVM has devices or sockets open, and what it is then} */
    private static Question<Optional<WatchedProcess>> opening(String id, String commandLine) {
        return Question.of(Long.parseLong(id), () -> Optional.ofNullable(open(id, commandLine)));
    }

    private static void closeLate(Optional<WatchedProcess> process) {
        process.ifPresent(WatchedProcess::close);
    }

    // The address comes from a process of this user: the system allows attaching to no other.
    @SuppressWarnings("BanJNDI")
    private static @Nullable WatchedProcess open(String id, String commandLine)
            throws IOException, AttachNotSupportedException {
        VirtualMachine machine = VirtualMachine.attach(id);
        try {
            Properties properties = machine.getSystemProperties();
            int devices = count(properties.getProperty(DEVICES));
            int sockets = count(properties.getProperty(SOCKETS));
            if (devices + sockets == 0) {
                return null;
            }
            JMXServiceURL address = new JMXServiceURL(machine.startLocalManagementAgent());
            WatchedProcess process = new WatchedProcess(Long.parseLong(id),
                    commandLine.split(" ", 2)[0], JMXConnectorFactory.connect(address), sockets);
            process.awaitBeans(DEVICE_BEANS, devices);
            return process;
        } finally {
            machine.detach();
        }
    }

    /** {@return how many names a property has} */
    private static int count(@Nullable String names) {
        return names == null ? 0 : names.split(",", -1).length;
    }

    /** Waits until the process has noticed that it has an MBean server now, which is within a second. */
    private void awaitBeans(ObjectName names, int wanted) throws IOException {
        long untilNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(REGISTERED_SECONDS);
        try {
            while (beans(names).size() < wanted && System.nanoTime() - untilNs < 0) {
                Thread.sleep(REGISTERED_LOOK_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Set<ObjectName> beans(ObjectName names) throws IOException {
        return connector.getMBeanServerConnection().queryNames(names, null);
    }

    private static ObjectName beans(String names) {
        try {
            return new ObjectName(names);
        } catch (JMException e) {
            throw new IllegalStateException("the name is well formed", e);
        }
    }

    long pid() {
        return pid;
    }

    /** {@return what completes when the process has ended} */
    CompletableFuture<?> end() {
        return end;
    }

    /**
     * Asks for something that it has open.
     *
     * @return what was asked; null while the process has not answered the last time
     */
    <T> @Nullable Question<T> ask(Callable<T> look) {
        if (isSilent()) {
            return null;
        }
        Question<T> question = Question.of(pid, look);
        asked = question;
        return question;
    }

    private boolean isSilent() {
        Question<?> last = asked;
        return last != null && !last.isAnswered();
    }

    /**
     * {@return what it has open now}
     *
     * @param only the device wanted, null for all
     * @throws IOException if it has ended
     * @throws JMException if it shows something else than expected
     */
    ProcessReading read(@Nullable String only) throws IOException, JMException {
        List<DeviceReading> devices = new ArrayList<>();
        MBeanServerConnection server = connector.getMBeanServerConnection();
        for (ObjectName name : beans(DEVICE_BEANS)) {
            DeviceReading device = read(server, name);
            if (device != null && (only == null || only.equals(device.name()))) {
                devices.add(device);
            }
        }
        devices.sort(Comparator.comparing(DeviceReading::name));
        return new ProcessReading(pid, program, devices);
    }

    /**
     * {@return the sockets it has open now} As {@link #read}.
     *
     * @param only the device whose connections and queue pairs of datagrams are wanted, null for all, and for listeners
     */
    SocketsReading readSockets(@Nullable String only) throws IOException, JMException {
        awaitBeans(SOCKET_BEANS, awaitedSockets);
        awaitedSockets = 0;
        List<ListenerReading> listeners = new ArrayList<>();
        List<ConnectionReading> connections = new ArrayList<>();
        List<DatagramReading> datagrams = new ArrayList<>();
        MBeanServerConnection server = connector.getMBeanServerConnection();
        for (ObjectName name : beans(SOCKET_BEANS)) {
            Map<String, Object> values = new TreeMap<>();
            try {
                for (Attribute each : server.getAttributes(name,
                        new String[]{"Listeners", "Connections", "DatagramSockets"}).asList()) {
                    values.put(each.getName(), each.getValue());
                }
            } catch (InstanceNotFoundException closed) {
                continue;
            }
            Map<String, String> ways = ways(server);
            for (CompositeData each : value(values, "Connections", CompositeData[].class)) {
                ConnectionReading connection = connection(each, ways);
                if (only == null || only.equals(connection.device())) {
                    connections.add(connection);
                }
            }
            for (CompositeData each : value(values, "DatagramSockets", CompositeData[].class)) {
                DatagramReading reading = datagrams(each, ways);
                if (only == null || reading.queuePairs().stream()
                        .anyMatch(pair -> only.equals(pair.device()))) {
                    datagrams.add(reading);
                }
            }
            if (only == null) {
                for (CompositeData each : value(values, "Listeners", CompositeData[].class)) {
                    listeners.add(new ListenerReading(address(each, "local"),
                            value(each, "backlog", Integer.class),
                            value(each, "waiting", Integer.class),
                            value(each, "answered", Integer.class),
                            value(each, "rule", String.class)));
                }
            }
        }
        return new SocketsReading(pid, program, listeners, connections, datagrams);
    }

    private static ConnectionReading connection(CompositeData from, Map<String, String> ways)
            throws JMException {
        String device = value(from, "device", String.class);
        int queuePair = value(from, "queuePair", Integer.class);
        return new ConnectionReading(device, queuePair,
                ways.getOrDefault(key(device, queuePair), ""), value(from, "side", String.class),
                value(from, "state", String.class), address(from, "local"), address(from, "peer"),
                value(from, "receiveBuffer", Integer.class),
                value(from, "sendBuffer", Integer.class), value(from, "readable", Integer.class),
                value(from, "unacknowledged", Integer.class),
                value(from, "receiveCredits", Integer.class),
                value(from, "sendCredits", Integer.class), value(from, "receiveRoom", Long.class),
                value(from, "sendRoom", Long.class), value(from, "receivedBytes", Long.class),
                value(from, "sentBytes", Long.class), value(from, "mappedBytes", Long.class),
                value(from, "keepaliveSeconds", Integer.class), value(from, "rule", String.class),
                value(from, "ageMs", Long.class));
    }

    private static DatagramReading datagrams(CompositeData from, Map<String, String> ways)
            throws JMException {
        List<DatagramReading.QueuePair> pairs = new ArrayList<>();
        for (CompositeData each : value(from, "queuePairs", CompositeData[].class)) {
            String device = value(each, "device", String.class);
            int number = value(each, "queuePair", Integer.class);
            pairs.add(new DatagramReading.QueuePair(device, number,
                    ways.getOrDefault(key(device, number), ""),
                    value(each, "address", String.class)));
        }
        boolean isConnected = !value(from, "peerAddress", String.class).isEmpty();
        return new DatagramReading(address(from, "local"),
                isConnected ? address(from, "peer") : "*",
                value(from, "receiveBuffer", Integer.class),
                value(from, "sendBuffer", Integer.class), value(from, "waiting", Integer.class),
                value(from, "leaving", Integer.class), value(from, "peers", Integer.class),
                value(from, "receivedDatagrams", Long.class),
                value(from, "receivedBytes", Long.class),
                value(from, "droppedDatagrams", Long.class),
                value(from, "sentDatagrams", Long.class), value(from, "sentBytes", Long.class),
                value(from, "introducedDatagrams", Long.class), value(from, "rule", String.class),
                value(from, "ageMs", Long.class), pairs);
    }

    /** {@return an address and port, in brackets if the address has colons} */
    private static String address(CompositeData from, String whose) throws JMException {
        String address = value(from, whose + "Address", String.class);
        int port = value(from, whose + "Port", Integer.class);
        return (address.indexOf(':') < 0 ? address : "[" + address + "]") + ":" + port;
    }

    /** {@return how messages of queue pairs travel, which their devices tell} */
    private Map<String, String> ways(MBeanServerConnection server)
            throws IOException, JMException {
        Map<String, String> ways = new HashMap<>();
        for (ObjectName name : beans(DEVICE_BEANS)) {
            DeviceReading device = read(server, name);
            if (device != null) {
                device.queuePairs()
                        .forEach(each -> ways.put(key(device.name(), each.number()), each.way()));
            }
        }
        return ways;
    }

    private static String key(String device, int queuePair) {
        return device + "/" + queuePair;
    }

    /** {@return a device, null if it was closed meanwhile} */
    private static @Nullable DeviceReading read(MBeanServerConnection server, ObjectName name)
            throws JMException, IOException {
        Map<String, Object> values = new TreeMap<>();
        try {
            for (Attribute each : server.getAttributes(name, new String[]{"Name", "Gids",
                "Contexts", "Capture", "Impairment", "Counters", "QueuePairs"}).asList()) {
                values.put(each.getName(), each.getValue());
            }
        } catch (InstanceNotFoundException closed) {
            return null;
        }
        List<QueuePairReading> pairs = new ArrayList<>();
        for (CompositeData pair : value(values, "QueuePairs", CompositeData[].class)) {
            pairs.add(new QueuePairReading(value(pair, "number", Integer.class),
                    value(pair, "type", String.class), value(pair, "state", String.class),
                    value(pair, "peerAddress", String.class),
                    value(pair, "peerNumber", Integer.class), value(pair, "way", String.class),
                    counters(value(pair, "counters", TabularData.class))));
        }
        return new DeviceReading(value(values, "Name", String.class),
                Arrays.asList(value(values, "Gids", String[].class)),
                value(values, "Contexts", Integer.class), ofSoftware(values, "Capture", ""),
                ofSoftware(values, "Impairment", "none"),
                counters(value(values, "Counters", TabularData.class)), pairs);
    }

    /** {@return an attribute that native devices do not have, otherwise what stands for nothing} */
    private static String ofSoftware(Map<String, Object> values, String name, String nothing)
            throws JMException {
        return values.containsKey(name) ? value(values, name, String.class) : nothing;
    }

    private static <T> T value(Map<String, Object> values, String name, Class<T> type)
            throws JMException {
        Object value = values.get(name);
        if (!type.isInstance(value)) {
            throw new JMException("no attribute " + name);
        }
        return type.cast(value);
    }

    private static <T> T value(CompositeData values, String name, Class<T> type)
            throws JMException {
        Object value = values.containsKey(name) ? values.get(name) : null;
        if (!type.isInstance(value)) {
            throw new JMException("no item " + name);
        }
        return type.cast(value);
    }

    /** {@return counters in the order of the device, which tables of the JDK keep} */
    private static Map<String, Long> counters(TabularData table) throws JMException {
        Map<String, Long> byName = new LinkedHashMap<>();
        Collection<?> rows = table.values();
        for (Object row : rows) {
            CompositeData entry = (CompositeData) row;
            byName.put(value(entry, "key", String.class), value(entry, "value", Long.class));
        }
        return byName;
    }

    /** Waits for a process no longer than it is asked otherwise: one that is stopped gets to know of it when it goes on. */
    @Override
    public void close() {
        boolean isSilent = isSilent();
        Question<Boolean> closing = Question.of(pid, () -> {
            connector.close();
            return true;
        });
        if (isSilent) {
            return;
        }
        try {
            closing.await();
        } catch (ExecutionException | TimeoutException e) {
            // It has ended before, or is stopped.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
