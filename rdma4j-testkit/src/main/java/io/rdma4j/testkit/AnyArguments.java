// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.EnhancedConnectionOptions;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.FlowRuleType;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherElement;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.WaitSet;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Arguments for any method of the API, as an object that is open would accept them, or with numbers, constants and windows that
 * most would refuse.
 */
final class AnyArguments {
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.1.2.3");

    private final Cleanup cleanup;
    private final MemoryRegion region;
    private final CompletionQueue queue;
    private final Gid gid;
    private final boolean isWrong;

    AnyArguments(Cleanup cleanup, MemoryRegion region, CompletionQueue queue, Gid gid,
            boolean isWrong) {
        this.cleanup = cleanup;
        this.region = region;
        this.queue = queue;
        this.gid = gid;
        this.isWrong = isWrong;
    }

    @Nullable
    Object[] of(Method method) throws ReflectiveOperationException, IOException {
        Type[] types = method.getGenericParameterTypes();
        @Nullable
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            arguments[i] = argument(types[i]);
        }
        return arguments;
    }

    private @Nullable Object argument(Type type)
            throws ReflectiveOperationException, IOException {
        if (type instanceof ParameterizedType generic) {
            if (generic.getRawType() == Set.class) {
                return Set.of();
            }
            Object element = argument(generic.getActualTypeArguments()[0]);
            return element == null ? List.of() : List.of(element);
        }
        Class<?> plain = (Class<?>) type;
        if (plain.isArray()) {
            Object array = Array.newInstance(plain.getComponentType(), 1);
            Array.set(array, 0, argument(plain.getComponentType()));
            return array;
        }
        if (plain.isEnum()) {
            Object[] constants = plain.getEnumConstants();
            return isWrong ? constants[constants.length - 1]
                    : plain.equals(AsyncEventType.class) ? AsyncEventType.COMMUNICATION_ESTABLISHED
                            : constants[0];
        }
        Object simple = simple(plain);
        return simple == null ? object(plain) : simple;
    }

    private @Nullable Object simple(Class<?> type) {
        return Map.<Class<?>, Object>of(int.class, isWrong ? -1 : 1,
                long.class, isWrong ? -1L : 8L, boolean.class, isWrong, byte.class, (byte) 0,
                String.class, isWrong ? "" : "127.0.0.1",
                Duration.class, isWrong ? Duration.ofSeconds(-1) : Duration.ZERO,
                MemorySegment.class, region.segment(), Path.class, Path.of("none"),
                InetAddress.class, GROUP, InetSocketAddress.class,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471)).get(type);
    }

    private @Nullable Object object(Class<?> type)
            throws ReflectiveOperationException, IOException {
        AddressHandleAttributes path = AddressHandleAttributes.to(gid, 0);
        return switch (type.getSimpleName()) {
            case "MemoryRegion" -> region;
            case "ProtectionDomain" -> region.protectionDomain();
            case "CompletionChannel" -> cleanup.keep(CompletionChannel.create());
            case "CmEventChannel" -> cleanup.keep(CmEventChannel.create());
            case "WaitSet" -> cleanup.keep(WaitSet.create());
            case "Selector" -> cleanup.keep(Selector.open());
            case "MemoryWindow" -> window();
            case "MemoryWindowBind" -> new MemoryWindowBind(region, region.address(), 8, Set.of());
            case "QueuePairInitAttributes" -> new QueuePairInitAttributes().completionQueue(queue);
            case "QueuePairAttributes" -> new QueuePairAttributes().state(QueuePairState.ERR);
            case "SharedReceiveQueueAttributes" -> new SharedReceiveQueueAttributes(4, 1, 0);
            case "AddressHandleAttributes" -> path;
            case "DatagramParameters" -> new DatagramParameters(path, 1, 1, new byte[0]);
            case "Gid" -> Gid.of(GROUP);
            case "ScatterGatherElement" -> new ScatterGatherElement(region.address(), 8,
                    region.lkey());
            case "MemoryRegionInitAttributes" -> new MemoryRegionInitAttributes()
                    .segment(region.segment());
            case "CompletionHandler" -> (CompletionHandler) completion -> {};
            case "FlowRule" -> FlowRule.of(FlowRuleType.SNIFFER);
            case "EnhancedConnectionOptions" -> EnhancedConnectionOptions.NONE;
            case "AddressHandle", "BufferAllocator", "ThreadDomain", "Object" -> null;
            default -> type.getConstructor().newInstance();
        };
    }

    /** {@return a window, null on devices that have none} */
    private @Nullable MemoryWindow window() {
        try {
            return cleanup.keep(region.protectionDomain()
                    .allocateMemoryWindow(isWrong ? MemoryWindowType.TYPE_2
                            : MemoryWindowType.TYPE_1));
        } catch (RdmaException e) {
            return null;
        }
    }
}
