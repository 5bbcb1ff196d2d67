// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import com.tngtech.archunit.core.domain.JavaClass;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/** The module descriptors say what is so for the class path, too. */
class ModuleDescriptorTest {
    private static final String SERVICES = "META-INF/services/";

    @Test
    void everyModuleOfTheProjectIsLookedAt() {
        assertThat(Modules.own()).extracting(module -> module.descriptor().name())
                .containsExactlyInAnyOrder("io.rdma4j.api", "io.rdma4j.protocol",
                        "io.rdma4j.softnic", "io.rdma4j.ibverbs", "io.rdma4j.testkit",
                        "io.rdma4j.sockets", "io.rdma4j.examples", "io.rdma4j.tools")
                .allSatisfy(name -> assertThat(descriptor(name).isAutomatic()).isFalse());
    }

    private static ModuleDescriptor descriptor(String name) {
        return Modules.own().stream().map(ModuleReference::descriptor)
                .filter(each -> each.name().equals(name)).findFirst().orElseThrow();
    }

    @Test
    void providersOfTheModulePathAreThoseOfTheClassPath() throws Exception {
        Map<String, Set<String>> all = Map.of();
        for (ModuleReference module : Modules.own()) {
            Map<String, Set<String>> provided = module.descriptor().provides().stream()
                    .collect(Collectors.toMap(ModuleDescriptor.Provides::service,
                            each -> Set.copyOf(each.providers())));
            assertThat(services(module)).as(module.descriptor().name()).isEqualTo(provided);
            all = provided.isEmpty() ? all : provided;
        }
        assertThat(all).containsOnlyKeys("io.rdma4j.verbs.RdmaProvider");
    }

    /** {@return the providers of each service that class loaders read of} */
    private static Map<String, Set<String>> services(ModuleReference module) throws IOException {
        try (ModuleReader reader = module.open()) {
            return reader.list().filter(name -> name.startsWith(SERVICES) && !name.endsWith("/"))
                    .collect(Collectors.toMap(name -> name.substring(SERVICES.length()),
                            name -> providers(reader, name)));
        }
    }

    private static Set<String> providers(ModuleReader reader, String name) {
        try {
            String text = StandardCharsets.UTF_8.decode(reader.read(name).orElseThrow()).toString();
            return text.lines().map(line -> line.replaceAll("#.*", "").strip())
                    .filter(line -> !line.isEmpty()).collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** On the module path picocli sets no field of a package that is not open to it. */
    @Test
    void packagesWithOptionsAreOpen() {
        Set<String> withOptions = MainClasses.ALL.stream()
                .filter(each -> each.getPackageName().startsWith("io.rdma4j.tools"))
                .filter(each -> each.getFields().stream().flatMap(
                        field -> field.getAnnotations().stream())
                        .anyMatch(annotation -> annotation.getRawType().getPackageName()
                                .equals("picocli")))
                .map(JavaClass::getPackageName).collect(Collectors.toSet());
        assertThat(descriptor("io.rdma4j.tools").opens()).extracting(
                ModuleDescriptor.Opens::source)
                .containsExactlyInAnyOrderElementsOf(withOptions);
    }

    /** Only what reads annotations at compile time needs them. */
    @Test
    void annotationsAreNotNeededAtRunTime() {
        assertThat(Modules.own()).allSatisfy(module -> assertThat(module.descriptor().requires())
                .filteredOn(each -> each.name().equals("org.jspecify")).singleElement()
                .satisfies(each -> assertThat(each.modifiers())
                        .containsExactly(ModuleDescriptor.Requires.Modifier.STATIC)));
        assertThat(Modules.pathOf("io.rdma4j.tools")).contains("picocli")
                .doesNotContain("jspecify");
    }
}
