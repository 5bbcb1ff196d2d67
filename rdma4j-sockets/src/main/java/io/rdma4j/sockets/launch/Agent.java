// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.launch;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;

/**
 * What the jar of {@code -javaagent} begins with: it finds the other jars of rdma4j, which lie beside it and are named alike. Its
 * manifest does not name them, because compilers warn of a jar that names others which are not where it is, as in a local repository.
 *
 * @see Premain
 */
public final class Agent {
    private static final String OWN = "rdma4j-sockets";
    private static final List<String> OTHERS = List.of("rdma4j-api", "rdma4j-protocol",
            "rdma4j-softnic", "rdma4j-ibverbs");

    private Agent() {}

    /**
     * Called by the JVM, before any class of another jar is needed.
     *
     * @param rules as {@link Premain#premain}
     */
    public static void premain(@Nullable String rules, Instrumentation jvm)
            throws IOException, URISyntaxException {
        Path jar = Path
                .of(Agent.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        String name = jar.getFileName().toString();
        if (name.startsWith(OWN)) {
            for (String other : OTHERS) {
                Path beside = jar.resolveSibling(other + name.substring(OWN.length()));
                if (Files.isRegularFile(beside)) {
                    jvm.appendToSystemClassLoaderSearch(new JarFile(beside.toFile()));
                }
            }
        }
        Premain.premain(rules, jvm);
    }
}
