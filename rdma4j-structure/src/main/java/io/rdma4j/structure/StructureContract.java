// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** The tests of a module's structure: its subclass, among the module's tests, says what the structure should be. */
public abstract class StructureContract {
    private final List<Set<String>> layers;
    private final Map<String, Integer> knots;
    private final Set<String> stateOfTheProcess;
    private final ModuleStructure module = ModuleStructure.ofThisModule();

    /**
     * Packages are named without {@code io.rdma4j.}.
     *
     * @param layers the packages, from top to bottom; those in one layer do not know each other
     * @param knots how many classes are in circles of more than five, by package; they may become fewer, and no further one may come
     * @param stateOfTheProcess the static fields, as {@code Class.field}, in which the process keeps what changes: it makes tests
     *        depend on each other, so no further one may come
     */
    protected StructureContract(List<Set<String>> layers, Map<String, Integer> knots,
            Set<String> stateOfTheProcess) {
        this.layers = layers;
        this.knots = knots;
        this.stateOfTheProcess = stateOfTheProcess;
    }

    @Test
    void eachPackageHasItsPlaceAndKnowsLowerOnesAlone() {
        assertThat(module.faults(layers)).isEmpty();
    }

    @Test
    void knotsAreThoseThatAreKnown() {
        assertThat(module.knots(5)).containsExactlyInAnyOrderEntriesOf(knots);
    }

    @Test
    void stateOfTheProcessIsKnown() {
        assertThat(module.stateOfTheProcess())
                .containsExactlyInAnyOrderElementsOf(stateOfTheProcess);
    }
}
