// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.CallOrders.Cell;
import io.rdma4j.testkit.CallOrders.Difference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** The tables of what Linux answers are whole, and every difference that has a reason is one. */
class CallOrdersTest {
    private static final int STATES = 19;
    private static final int STATES_OF_DATAGRAMS = 15;
    private static final int CALLS = 27;

    @ParameterizedTest
    @EnumSource
    void everyCallWasMeasuredInEveryState(ConformanceProfile profile) {
        List<Cell> connections = CallOrders.of(profile, PortSpace.TCP);
        assertThat(connections).hasSize(STATES * CALLS);
        assertThat(connections).extracting(each -> each.state() + ' ' + each.call())
                .doesNotHaveDuplicates();
        List<Cell> datagrams = CallOrders.of(profile, PortSpace.UDP);
        assertThat(datagrams).hasSize(profile.text().endsWith("iwarp")
                ? 0
                : STATES_OF_DATAGRAMS * CALLS);
        assertThat(datagrams).extracting(each -> each.state() + ' ' + each.call())
                .doesNotHaveDuplicates();
        assertThat(connections).extracting(Cell::linux)
                .allMatch(each -> each.matches("ok( [A-Z_]+| -)?|E[A-Z]+|crash|blocks"));
    }

    /** A crash or a call that blocks is never what rdma4j has to do. */
    @ParameterizedTest
    @EnumSource
    void whatMustNotBeHasAReason(ConformanceProfile profile) {
        for (PortSpace space : List.of(PortSpace.TCP, PortSpace.UDP)) {
            assertThat(CallOrders.of(profile, space)).extracting(Cell::expected)
                    .doesNotContain("crash", "blocks");
        }
    }

    @Test
    void everyDifferenceChangesSomething() {
        List<Difference> idle = new ArrayList<>(CallOrders.differences());
        for (ConformanceProfile profile : ConformanceProfile.values()) {
            for (PortSpace space : List.of(PortSpace.TCP, PortSpace.UDP)) {
                for (Cell cell : CallOrders.of(profile, space)) {
                    if (!cell.expected().equals(cell.linux())) {
                        idle.removeIf(each -> each.covers(profile, space.name(), cell.state(),
                                cell.call()) && each.expected().equals(cell.expected()));
                    }
                }
            }
        }
        assertThat(idle).isEmpty();
    }
}
