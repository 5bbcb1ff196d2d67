// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.Arena;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.util.Set;
import java.util.TreeSet;

/**
 * Prints which classes of protocol and software NIC a thread passes while it posts one SEND. The agent of its own process, in which
 * nothing else runs: each method of these classes says that it begins.
 */
public final class SendPath {
    private static final int WARM_UP = 100;
    private static final int SENDS = 20;
    private static final ClassDesc SELF = ClassDesc.of(SendPath.class.getName());
    private static final MethodTypeDesc OF_TEXT = MethodTypeDesc.of(ConstantDescs.CD_void,
            ConstantDescs.CD_String);

    private static final Set<String> PASSED = new TreeSet<>();
    private static volatile @Nullable Thread posting;

    private SendPath() {}

    /** Has the classes that are loaded from now on say where they are. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte @Nullable [] transform(@Nullable ClassLoader loader, String name,
                    @Nullable Class<?> redefined,
                    java.security.@Nullable ProtectionDomain origin, byte[] bytes) {
                return isWatched(name) ? watched(name, bytes) : null;
            }
        });
    }

    private static boolean isWatched(String name) {
        return (name.startsWith("io/rdma4j/softnic/") || name.startsWith("io/rdma4j/protocol/")
                || name.startsWith("io/rdma4j/spi/"))
                && !name.startsWith("io/rdma4j/softnic/SendPath");
    }

    private static byte[] watched(String name, byte[] bytes) {
        // Superclasses are read and not loaded, for this runs while a class is being loaded.
        ClassFile classFile = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofResourceParsing(ClassLoader.getSystemClassLoader())));
        String type = name.substring(name.lastIndexOf('/') + 1).replaceFirst("\\$.*", "");
        return classFile.transformClass(classFile.parse(bytes),
                ClassTransform.transformingMethodBodies(CodeTransform.ofStateful(() -> {
                    boolean[] hasBegun = {false};
                    return (builder, element) -> {
                        if (!hasBegun[0]) {
                            hasBegun[0] = true;
                            builder.ldc(type).invokestatic(SELF, "enter", OF_TEXT);
                        }
                        builder.with(element);
                    };
                })));
    }

    /** A method of a class begins. */
    public static void enter(String type) {
        if (Thread.currentThread().equals(posting)) {
            PASSED.add(type);
        }
    }

    /** Posts. Argument: the {@link Loopback} of the device. */
    public static void main(String[] arguments) throws RdmaException {
        try (DeviceContext context = DeviceOptions.DEFAULT
                .withLoopback(Loopback.parse(arguments[0])).open(RdmaDevices.find("roce_lo"));
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(64);
                QueuePair a = domain
                        .createQueuePair(new QueuePairInitAttributes().completionQueue(queue));
                QueuePair b = domain
                        .createQueuePair(new QueuePairInitAttributes().completionQueue(queue));
                MemoryRegion region = domain.register(Arena.ofAuto().allocate(128),
                        AccessFlag.LOCAL_WRITE)) {
            connect(context, a, b);
            connect(context, b, a);
            SendWorkRequest send = new SendWorkRequest().send().add(region, 0, 64)
                    .set(SendFlag.SIGNALED);
            for (int i = 0; i < WARM_UP; i++) {
                exchange(a, b, region, send, queue);
                exchange(b, a, region, send, queue);
            }
            System.out.println(String.join(" ", passedEachTime(a, b, region, send, queue)));
            System.out.flush();
        }
    }

    /** {@return the classes passed by each of many SENDs} Another thread may have the engine once, or another process may come. */
    private static Set<String> passedEachTime(QueuePair from, QueuePair to, MemoryRegion region,
            SendWorkRequest send, CompletionQueue queue) throws RdmaException {
        Set<String> eachTime = new TreeSet<>();
        for (int i = 0; i < SENDS;) {
            to.postReceive(new ReceiveWorkRequest().add(region, 64, 64));
            PASSED.clear();
            posting = Thread.currentThread();
            from.postSend(send);
            posting = null;
            if (PASSED.contains("RoceLink")) {
                if (i++ == 0) {
                    eachTime.addAll(PASSED);
                }
                eachTime.retainAll(PASSED);
            }
            complete(queue);
        }
        return eachTime;
    }

    /** A message and all that follows from it. */
    private static void exchange(QueuePair from, QueuePair to, MemoryRegion region,
            SendWorkRequest send, CompletionQueue queue) throws RdmaException {
        to.postReceive(new ReceiveWorkRequest().add(region, 64, 64));
        from.postSend(send);
        complete(queue);
    }

    private static void complete(CompletionQueue queue) throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        for (int left = 2; left > 0;) {
            if (queue.poll(completion)) {
                completion.requireSuccess("exchange");
                left--;
            }
        }
        queue.poll(completion);
    }

    private static void connect(DeviceContext context, QueuePair from, QueuePair to)
            throws RdmaException {
        from.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1).pkeyIndex(0)
                .accessFlags(AccessFlag.LOCAL_WRITE));
        from.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(context.queryGid(1, 1), 1))
                .pathMtu(Mtu.MTU_4096).destinationQueuePairNumber(to.number()).receivePsn(5)
                .maxDestinationReadAtomic(1).minRnrTimerCode(12));
        from.modify(new QueuePairAttributes().state(QueuePairState.RTS).ackTimeoutExponent(16)
                .retryCount(7).rnrRetry(7).sendPsn(5).maxReadAtomic(1));
    }
}
