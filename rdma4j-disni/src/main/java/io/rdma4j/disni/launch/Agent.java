// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni.launch;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;

/**
 * What the jar of {@code -javaagent} begins with: it finds the other jars of rdma4j, which lie beside it and are named alike, and has
 * DiSNI's classes replaced when they are loaded. What is wrong ends the JVM with one line, since DiSNI would look for its native
 * library otherwise.
 *
 * @see ReplacedClasses
 */
public final class Agent {
    private static final String OWN = "rdma4j-disni";
    private static final List<String> OTHERS = List.of("rdma4j-api", "rdma4j-protocol",
            "rdma4j-softnic", "rdma4j-ibverbs");
    private static final String DEVICES = "META-INF/services/io.rdma4j.verbs.RdmaProvider";
    private static final int FAILED = 1;

    private Agent() {}

    /**
     * Called by the JVM.
     *
     * @param arguments the text behind {@code -javaagent:JAR=}, null without one: there is nothing to say
     */
    public static void premain(@Nullable String arguments, Instrumentation jvm)
            throws IOException, URISyntaxException {
        URI place = Agent.class.getProtectionDomain().getCodeSource().getLocation().toURI();
        addOtherJars(Path.of(place), jvm);
        try {
            if (arguments != null) {
                throw new IllegalArgumentException("-javaagent of rdma4j-disni takes no '="
                        + arguments + "': its options are properties");
            }
            requireDevices();
            NativeAccess.enable(jvm);
            jvm.addTransformer(ReplacedClasses.of(place, jvm, System.err::println));
        } catch (IllegalArgumentException | IllegalStateException e) {
            System.err.println("rdma4j: " + e.getMessage());
            System.exit(FAILED);
        }
    }

    private static void addOtherJars(Path jar, Instrumentation jvm) throws IOException {
        String name = jar.getFileName().toString();
        if (!name.startsWith(OWN)) {
            return;
        }
        for (String other : OTHERS) {
            Path beside = jar.resolveSibling(other + name.substring(OWN.length()));
            if (Files.isRegularFile(beside)) {
                jvm.appendToSystemClassLoaderSearch(new JarFile(beside.toFile()));
            }
        }
    }

    private static void requireDevices() {
        if (ClassLoader.getSystemResource(DEVICES) == null) {
            throw new IllegalStateException("there is no provider of devices: the other jars of"
                    + " rdma4j belong beside that of -javaagent");
        }
    }
}
