// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.CallOrders.Cell;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.SoftAssertions;

import java.util.List;
import java.util.Set;

/**
 * Each call of the connection manager on an id in each state, which does what librdmacm and Linux's kernel do, or what
 * {@link CallOrders} gives a reason for.
 */
public abstract class CallOrderConformance extends Conformance {
    /** The states of an id that knows of no peer. */
    private static final Set<String> ALONE = Set.of("fresh", "bound", "bound_any", "listening",
            "unresolved", "address_resolved", "route_resolved", "ready");
    /** The states of an id that waits for an answer, or has one to give. */
    private static final Set<String> CONNECTING = Set.of("connecting", "request", "request_ready",
            "response", "accepted");
    /** The other states. */
    private static final Set<String> ANSWERED = Set.of("established", "established_passive",
            "disconnected", "disconnected_by_peer", "rejected", "rejecting");
    private static final String KEEPS_THE_CALLER = "the kernel may not return from closing an id that is being connected";

    /** Called by subclasses. */
    protected CallOrderConformance() {}

    @ConformanceCase
    void idOfConnectionsAnswersEachCallBeforeItHasAPeer() throws RdmaException {
        play(PortSpace.TCP, ALONE);
    }

    @ConformanceCase
    void idOfConnectionsAnswersEachCallWhileItIsConnected() throws RdmaException {
        assumeOffered(run().profile() != ConformanceProfile.NATIVE_IWARP, KEEPS_THE_CALLER);
        play(PortSpace.TCP, CONNECTING);
    }

    @ConformanceCase
    void idOfConnectionsAnswersEachCallWhenItIsAnswered() throws RdmaException {
        assumeOffered(run().profile() != ConformanceProfile.NATIVE_IWARP, KEEPS_THE_CALLER);
        play(PortSpace.TCP, ANSWERED);
    }

    @ConformanceCase
    void idOfDatagramsAnswersEachCallBeforeItHasAPeer() throws RdmaException {
        play(PortSpace.UDP, ALONE);
    }

    @ConformanceCase
    void idOfDatagramsAnswersEachCallWhileItIsConnected() throws RdmaException {
        play(PortSpace.UDP, CONNECTING);
    }

    @ConformanceCase
    void idOfDatagramsAnswersEachCallWhenItIsAnswered() throws RdmaException {
        play(PortSpace.UDP, ANSWERED);
    }

    private void play(PortSpace space, Set<String> states) throws RdmaException {
        SoftAssertions answers = new SoftAssertions();
        // Holds the device, so that no cell opens it anew.
        new CmPlayers(this::keep, this).listen(space);
        List<Cell> cells = CallOrders.of(run().profile(), space).stream()
                .filter(each -> states.contains(each.state())).toList();
        for (Cell cell : cells) {
            try (CallOrderStage stage = new CallOrderStage(this, space)) {
                answers.assertThat(stage.answer(cell)).as(cell.toString())
                        .isEqualTo(cell.expected());
            }
        }
        answers.assertAll();
    }
}
