package io.rdma4j.testkit;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.CallOrders.Cell;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.SoftAssertions;

/**
 * Each call of the connection manager on an id in each state, which does what librdmacm and Linux's kernel do, or what
 * {@link CallOrders} gives a reason for.
 */
public abstract class CallOrderConformance extends Conformance {
    /** Called by subclasses. */
    protected CallOrderConformance() {}

    @ConformanceCase
    void idOfConnectionsAnswersEachCallInEachState() throws RdmaException {
        play(PortSpace.TCP);
    }

    @ConformanceCase
    void idOfDatagramsAnswersEachCallInEachState() throws RdmaException {
        play(PortSpace.UDP);
    }

    private void play(PortSpace space) throws RdmaException {
        SoftAssertions answers = new SoftAssertions();
        // Holds the device, so that no cell opens it anew.
        new CmPlayers(this::keep, this).listen(space);
        for (Cell cell : CallOrders.of(run().profile(), space)) {
            try (CallOrderStage stage = new CallOrderStage(this, space)) {
                answers.assertThat(stage.answer(cell)).as(cell.toString())
                        .isEqualTo(cell.expected());
            }
        }
        answers.assertAll();
    }
}
