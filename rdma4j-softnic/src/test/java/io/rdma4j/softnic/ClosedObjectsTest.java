package io.rdma4j.softnic;

import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEventChannel;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.EnhancedConnectionOptions;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.FlowRuleType;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.ScatterGatherElement;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WaitSet;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Every method that declares RdmaException, of every object that is closed: the same checked error, on each device. */
@ParameterizedClass
@ValueSource(strings = {"roce_lo", "iwarp_lo"})
class ClosedObjectsTest {
    /** To close again does nothing. */
    private static final Set<String> ALLOWED = Set.of("close", "closeQueuePair",
            "closeSharedReceiveQueue");

    private final String device;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final MemorySegment memory = Arena.global().allocate(4096, 4096);
    private DeviceContext context;
    private ProtectionDomain domain;
    private CompletionQueue queue;
    private MemoryRegion region;

    ClosedObjectsTest(String device) throws RdmaException {
        this.device = device;
        context = RdmaDevices.find(device).open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(4);
        region = domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                AccessFlag.MW_BIND);
    }

    @BeforeEach
    void isOpen() {
        open.push(context);
        open.push(domain);
        open.push(queue);
        open.push(region);
    }

    @AfterEach
    void everythingCanBeClosed() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    private <T extends AutoCloseable> T closed(T object) throws Exception {
        object.close();
        return object;
    }

    private boolean isRoce() {
        return device.startsWith("roce");
    }

    private QueuePairInitAttributes wanted() {
        return new QueuePairInitAttributes().completionQueue(queue);
    }

    private CmId id() throws RdmaException {
        CmId id = CmId.create(PortSpace.TCP);
        id.device(device);
        id.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        id.createQueuePair();
        return id;
    }

    @TestFactory
    Stream<DynamicTest> eachMethodOfAClosedObject() throws Exception {
        Stream.Builder<DynamicTest> tests = Stream.builder();
        add(tests, DeviceContext.class, closed(RdmaDevices.find(device).open()));
        add(tests, ProtectionDomain.class, closed(context.allocateProtectionDomain()));
        add(tests, CompletionQueue.class, closed(context.createCompletionQueue(4)));
        add(tests, ExtendedCompletionQueue.class,
                closed(context.createExtendedCompletionQueue(
                        new CompletionQueueInitAttributes())));
        add(tests, QueuePair.class, closed(domain.createQueuePair(wanted())));
        add(tests, SharedReceiveQueue.class, closed(domain
                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes().maxRequests(4))));
        add(tests, MemoryRegion.class, closed(domain.register(memory)));
        add(tests, DeviceMemory.class, closed(context.allocateDeviceMemory(64, 8)));
        add(tests, MemoryWindow.class,
                closed(domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)));
        if (isRoce()) {
            add(tests, AddressHandle.class, closed(handle()));
        }
        add(tests, CompletionChannel.class, closed(CompletionChannel.create()));
        add(tests, CmEventChannel.class, closed(CmEventChannel.create()));
        add(tests, WaitSet.class, closed(WaitSet.create()));
        add(tests, CmId.class, closed(id()));
        DeviceContext gone = RdmaDevices.find(device).open();
        AsyncEventChannel channel = gone.asyncEventChannel();
        gone.close();
        add(tests, AsyncEventChannel.class, channel);
        return tests.build();
    }

    private AddressHandle handle() throws RdmaException {
        return domain.createAddressHandle(
                AddressHandleAttributes.to(context.queryGid(1, 1), 1));
    }

    private void add(Stream.Builder<DynamicTest> tests, Class<?> type, Object object) {
        Arrays.stream(type.getMethods()).filter(ClosedObjectsTest::declaresRdmaException)
                .filter(each -> !ALLOWED.contains(each.getName()))
                .map(method -> DynamicTest.dynamicTest(
                        type.getSimpleName() + "." + method.getName()
                                + Arrays.toString(method.getParameterTypes()),
                        () -> assertRefused(object, method)))
                .forEach(tests::add);
    }

    private static boolean declaresRdmaException(Method method) {
        return !Modifier.isStatic(method.getModifiers()) && !method.isBridge()
                && Arrays.stream(method.getExceptionTypes())
                        .anyMatch(RdmaException.class::isAssignableFrom);
    }

    private void assertRefused(Object object, Method method) throws Exception {
        @Nullable
        Object[] arguments = arguments(method);
        Throwable refusal = null;
        try {
            method.invoke(object, arguments);
        } catch (InvocationTargetException e) {
            refusal = e.getCause();
        }
        assertThat(refusal).as(method.toString()).isInstanceOf(RdmaClosedException.class);
    }

    private @Nullable Object[] arguments(Method method) throws Exception {
        Type[] types = method.getGenericParameterTypes();
        @Nullable
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            arguments[i] = argument(types[i]);
        }
        return arguments;
    }

    /** {@return something that an object would accept that is open} */
    private @Nullable Object argument(Type type) throws Exception {
        if (type instanceof ParameterizedType generic) {
            return generic.getRawType() == Set.class ? Set.of()
                    : List.of(argument(generic.getActualTypeArguments()[0]));
        }
        Class<?> plain = (Class<?>) type;
        if (plain.isArray()) {
            Object element = argument(plain.getComponentType());
            Object array = java.lang.reflect.Array.newInstance(plain.getComponentType(), 1);
            java.lang.reflect.Array.set(array, 0, element);
            return array;
        }
        if (plain.isEnum()) {
            return plain.equals(AsyncEventType.class) ? AsyncEventType.COMMUNICATION_ESTABLISHED
                    : plain.getEnumConstants()[0];
        }
        Map<Class<?>, Object> simple = Map.of(int.class, 1, long.class, 8L, boolean.class, false,
                byte.class, (byte) 0, String.class, "127.0.0.1", Duration.class, Duration.ZERO,
                MemorySegment.class, memory, Path.class, Path.of("none"),
                InetAddress.class, InetAddress.ofLiteral("239.1.2.3"), InetSocketAddress.class,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471));
        if (simple.containsKey(plain)) {
            return simple.get(plain);
        }
        return object(plain);
    }

    private @Nullable Object object(Class<?> type) throws Exception {
        return switch (type.getSimpleName()) {
            case "MemoryRegion" -> region;
            case "ProtectionDomain" -> domain;
            case "CompletionChannel" -> kept(CompletionChannel.create());
            case "CmEventChannel" -> kept(CmEventChannel.create());
            case "WaitSet" -> kept(WaitSet.create());
            case "AddressHandle" -> isRoce() ? kept(handle()) : null;
            case "MemoryWindow" -> kept(domain.allocateMemoryWindow(MemoryWindowType.TYPE_1));
            case "MemoryWindowBind" -> new MemoryWindowBind(region, region.address(), 8, Set.of());
            case "QueuePairInitAttributes" -> wanted();
            case "QueuePairAttributes" -> new QueuePairAttributes().state(QueuePairState.ERR);
            case "SharedReceiveQueueAttributes" -> new SharedReceiveQueueAttributes(4, 1, 0);
            case "AddressHandleAttributes" -> AddressHandleAttributes.to(context.queryGid(1, 0), 0);
            case "DatagramParameters" -> new DatagramParameters(
                    AddressHandleAttributes.to(context.queryGid(1, 0), 0), 1, 1, new byte[0]);
            case "Gid" -> Gid.of(InetAddress.ofLiteral("239.1.2.3"));
            case "ScatterGatherElement" -> new ScatterGatherElement(
                    region.address(), 8, region.lkey());
            case "MemoryRegionInitAttributes" -> new MemoryRegionInitAttributes().segment(memory);
            case "SendWorkRequest" -> new SendWorkRequest();
            case "ReceiveWorkRequest" -> new ReceiveWorkRequest();
            case "WorkCompletion" -> new WorkCompletion();
            case "CompletionHandler" -> (CompletionHandler) completion -> {};
            case "FlowRule" -> FlowRule.of(FlowRuleType.SNIFFER);
            case "EnhancedConnectionOptions" -> EnhancedConnectionOptions.NONE;
            case "BufferAllocator", "ThreadDomain", "Object" -> null;
            default -> type.getConstructor().newInstance();
        };
    }

    private <T extends AutoCloseable> T kept(T object) {
        open.push(object);
        return object;
    }
}
