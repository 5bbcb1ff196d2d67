// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni.launch;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Has a class loader define this module's class where it would define DiSNI's of the same name, whatever the order of the class path.
 *
 * <p>A loader of a program's own that asks its parent first would find this module's classes there, apart from DiSNI's, which they have
 * to be beside. So they are defined in such a loader as soon as it loads the class that is the first to need them.
 */
final class ReplacedClasses implements ClassFileTransformer {
    private static final String IMPLEMENTATION = "com/ibm/disni/verbs/impl/";
    private static final String UTILITIES = "com/ibm/disni/util/";
    /** By DiSNI's names. Those that need DiSNI's classes beside them. */
    private static final List<String> BESIDE_OTHERS = List.of(IMPLEMENTATION + "NativeDispatcher",
            IMPLEMENTATION + "NatRegMrCall", IMPLEMENTATION + "NatPollCqCall");
    private static final List<String> ALONE = List.of(UTILITIES + "MemoryUtils",
            UTILITIES + "NativeAffinity", UTILITIES + "NetUtils");
    /** Of the classes of that package it is the first that a program needs. */
    private static final String FIRST = IMPLEMENTATION + "RdmaProviderNat";
    private static final String CALLS = "io.rdma4j.disni.NativeCalls";

    private final Map<String, byte[]> classes;
    private final Method defining;
    private final Consumer<String> out;

    private ReplacedClasses(Map<String, byte[]> classes, Method defining, Consumer<String> out) {
        this.classes = classes;
        this.defining = defining;
        this.out = out;
    }

    /**
     * @param place the jar or directory that has this module's classes: a program's own may come first on the class path
     * @param out where a line goes about a loader that cannot have them
     */
    static ReplacedClasses of(URI place, Instrumentation jvm, Consumer<String> out)
            throws IOException {
        Map<String, byte[]> classes = new HashMap<>();
        for (String name : Stream.concat(BESIDE_OTHERS.stream(), ALONE.stream()).toList()) {
            classes.put(name, read(place, name + ".class"));
        }
        return new ReplacedClasses(classes, defining(jvm), out);
    }

    private static byte[] read(URI place, String name) throws IOException {
        for (URL found : Collections.list(ClassLoader.getSystemResources(name))) {
            if (found.toString().contains(place.toString())) {
                try (InputStream in = found.openStream()) {
                    return in.readAllBytes();
                }
            }
        }
        throw new IllegalStateException(place + " has no " + name + ": it is not whole");
    }

    private static Method defining(Instrumentation jvm) {
        jvm.redefineModule(Object.class.getModule(), Set.of(), Map.of(),
                Map.of("java.lang", Set.of(ReplacedClasses.class.getModule())), Set.of(),
                Map.of());
        try {
            Method method = ClassLoader.class.getDeclaredMethod("defineClass", String.class,
                    byte[].class, int.class, int.class, ProtectionDomain.class);
            method.setAccessible(true);
            return method;
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public byte @Nullable [] transform(@Nullable Module module, @Nullable ClassLoader loader,
            @Nullable String name, @Nullable Class<?> redefined, @Nullable ProtectionDomain domain,
            byte[] bytes) {
        // Nearly all classes end here.
        if (name == null || loader == null || redefined != null
                || !name.startsWith("com/ibm/disni/")) {
            return null;
        }
        if (name.equals(FIRST) && !loader.equals(ClassLoader.getSystemClassLoader())
                && sees(loader, CALLS)) {
            BESIDE_OTHERS.forEach(each -> define(loader, each, domain));
        }
        byte[] replaced = classes.get(name);
        if (replaced != null && BESIDE_OTHERS.contains(name) && !sees(loader, CALLS)) {
            out.accept("rdma4j: DiSNI's class loader " + loader + " does not see rdma4j: let it"
                    + " ask its parent for the packages io.rdma4j");
            return null;
        }
        return replaced;
    }

    private static boolean sees(ClassLoader loader, String name) {
        try {
            Class.forName(name, false, loader);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private void define(ClassLoader loader, String name, @Nullable ProtectionDomain domain) {
        byte[] bytes = Objects.requireNonNull(classes.get(name));
        try {
            defining.invoke(loader, name.replace('/', '.'), bytes, 0, bytes.length, domain);
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof LinkageError)) {
                throw new IllegalStateException(e.getCause());
            }
            // It has this class already.
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
