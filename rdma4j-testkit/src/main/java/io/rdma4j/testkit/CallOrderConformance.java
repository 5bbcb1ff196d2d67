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
    /** The states of an id that has not heard of a peer. */
    private static final Set<String> ALONE = Set.of("fresh", "bound", "bound_any", "listening",
            "unresolved", "address_resolved", "route_resolved", "ready");

    /** Called by subclasses. */
    protected CallOrderConformance() {}

    @ConformanceCase
    void idOfConnectionsAnswersEachCallBeforeItHasAPeer() throws RdmaException {
        play(PortSpace.TCP, true);
    }

    @ConformanceCase
    void idOfConnectionsAnswersEachCallWhenItHasAPeer() throws RdmaException {
        assumeOffered(run().profile() != ConformanceProfile.NATIVE_IWARP,
                "the kernel may not return from closing an id that is being connected");
        play(PortSpace.TCP, false);
    }

    @ConformanceCase
    void idOfDatagramsAnswersEachCallBeforeItHasAPeer() throws RdmaException {
        play(PortSpace.UDP, true);
    }

    @ConformanceCase
    void idOfDatagramsAnswersEachCallWhenItHasAPeer() throws RdmaException {
        play(PortSpace.UDP, false);
    }

    private void play(PortSpace space, boolean isAlone) throws RdmaException {
        SoftAssertions answers = new SoftAssertions();
        // Holds the device, so that no cell opens it anew.
        new CmPlayers(this::keep, this).listen(space);
        List<Cell> cells = CallOrders.of(run().profile(), space).stream()
                .filter(each -> ALONE.contains(each.state()) == isAlone).toList();
        for (Cell cell : cells) {
            try (CallOrderStage stage = new CallOrderStage(this, space)) {
                answers.assertThat(stage.answer(cell)).as(cell.toString())
                        .isEqualTo(cell.expected());
            }
        }
        answers.assertAll();
    }
}
