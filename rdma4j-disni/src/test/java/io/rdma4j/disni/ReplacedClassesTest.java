// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Each replaced class has what DiSNI's other classes, of either version, can call of the one whose place it takes. */
class ReplacedClassesTest {
    private static final String IMPLEMENTATION = "com.ibm.disni.verbs.impl.";
    private static final String UTILITIES = "com.ibm.disni.util.";
    /** What only the class itself, or the one that is replaced beside it, called. */
    private static final Set<String> UNUSED = Set.of(
            "public native int com.ibm.disni.verbs.impl.NativeDispatcher._pollCQ(long,int,long)"
                    + " throws java.io.IOException",
            "public com.ibm.disni.util.MemoryUtils()",
            "public com.ibm.disni.util.NativeAffinity()");

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(Plug.Version.class)
    void replacedClassesHaveTheSameMembers(Plug.Version version) throws Exception {
        URL jar = Path.of(Plug.theirs(version)
                .filter(each -> each.matches(".*/disni-[0-9.]+\\.jar")).findFirst().orElseThrow())
                .toUri().toURL();
        URL slf4j = org.slf4j.Logger.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader theirs = new URLClassLoader(new URL[]{jar, slf4j},
                ClassLoader.getPlatformClassLoader())) {
            for (String name : new String[]{IMPLEMENTATION + "NativeDispatcher",
                IMPLEMENTATION + "NatRegMrCall", IMPLEMENTATION + "NatPollCqCall",
                UTILITIES + "MemoryUtils", UTILITIES + "NativeAffinity", UTILITIES + "NetUtils"}) {
                Class<?> original = Class.forName(name, false, theirs);
                Class<?> replaced = Class.forName(name);
                assertThat(original.getClassLoader()).isSameAs(theirs);
                assertThat(members(replaced)).as(name).containsAll(members(original));
            }
        }
    }

    /** {@return the shapes of what is not private} */
    private static Set<String> members(Class<?> type) {
        Set<String> members = new TreeSet<>();
        Stream.of(type.getDeclaredConstructors())
                .filter(each -> !Modifier.isPrivate(each.getModifiers()))
                .map(Constructor::toString).filter(each -> !UNUSED.contains(each))
                .forEach(members::add);
        Stream.of(type.getDeclaredMethods())
                .filter(each -> !Modifier.isPrivate(each.getModifiers())).map(Method::toString)
                .filter(each -> !UNUSED.contains(each)).map(each -> each.replace("native ", ""))
                .forEach(members::add);
        return members;
    }
}
