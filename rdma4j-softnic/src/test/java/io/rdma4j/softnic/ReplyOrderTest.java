// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@link ReplyOrderStage} on each path of messages. */
class ReplyOrderTest {
    @Nested
    @ExtendWith(ChosenLoopback.Direct.class)
    class WithinAProcess extends ReplyOrderStage {}

    @Nested
    @ExtendWith(ChosenLoopback.Shared.class)
    class ThroughSharedMemory extends ReplyOrderStage {}

    @Nested
    @ExtendWith(ChosenLoopback.Network.class)
    class ThroughTheNetwork extends ReplyOrderStage {}

    @Nested
    class OverIwarp extends ReplyOrderStage {
        @Override
        CmId id(PortSpace space) throws RdmaException {
            CmId id = super.id(space);
            id.device("iwarp_lo");
            return id;
        }
    }
}
