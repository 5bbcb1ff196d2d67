// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** That each fault of a structure is found, in classes that have them. */
class ModuleStructureTest {
    private static final Set<String> LOWER = Set.of("structure.lower");
    private static final Set<String> UPPER = Set.of("structure.upper");
    private static final Set<String> HERE = Set.of("structure");

    private final ModuleStructure module = ModuleStructure.of(Path.of("target", "test-classes"));

    @Test
    void layersThatAreSoHaveNoFault() {
        assertThat(module.faults(List.of(HERE, UPPER, LOWER))).isEmpty();
    }

    @Test
    void packageThatKnowsAHigherOneIsAFault() {
        assertThat(module.faults(List.of(HERE, LOWER, UPPER)))
                .containsExactly("structure.upper knows structure.lower");
    }

    @Test
    void packagesOfOneLayerThatKnowEachOtherAreAFault() {
        assertThat(module.faults(
                List.of(HERE, Set.of("structure.lower", "structure.upper"))))
                .containsExactly("structure.upper knows structure.lower");
    }

    @Test
    void eachPackageHasOnePlace() {
        assertThat(module.faults(List.of(HERE, UPPER)))
                .contains("structure.lower has no place");
        assertThat(module.faults(List.of(HERE, UPPER, LOWER, LOWER)))
                .contains("structure.lower has two places");
        assertThat(module.faults(List.of(HERE, UPPER, LOWER, Set.of("gone"))))
                .containsExactly("gone is no package");
    }

    @Test
    void allKnotsAreMeasuredWithWhatIsNested() {
        assertThat(module.knots(1)).isEqualTo(Map.of("structure.upper", 4));
        assertThat(module.knots(2)).isEmpty();
    }

    @Test
    void registryBehindAClassOrAnInterfaceOfItsOwnIsSeen() {
        assertThat(module.stateOfTheProcess())
                .containsExactlyInAnyOrder("Registry.OF_PROCESS", "Registry.count",
                        "Shelf.OF_PROCESS", "Shelf.PLACES");
    }
}
