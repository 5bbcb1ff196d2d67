// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;

import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Completions read in place. */
public abstract class ExtendedCompletionQueueConformance extends Conformance {
    private static final CompletionField[] STANDARD = {CompletionField.BYTE_LENGTH,
        CompletionField.IMMEDIATE, CompletionField.QUEUE_PAIR_NUMBER,
        CompletionField.SOURCE_QUEUE_PAIR, CompletionField.SOURCE_LID,
        CompletionField.SERVICE_LEVEL, CompletionField.DESTINATION_PATH_BITS};

    /** Called by subclasses. */
    protected ExtendedCompletionQueueConformance() {}

    /** {@return what {@code IBV_WC_STANDARD_FLAGS} asks for} */
    static CompletionQueueInitAttributes standard() {
        return new CompletionQueueInitAttributes().capacity(2000).fields(STANDARD);
    }

    private static PlayerSettings inPlace() {
        return new PlayerSettings().with(own -> own.queue = (context, domain) -> context
                .createCompletionQueue(standard()));
    }

    @ConformanceCase(after = "test_cqex.ud_traffic_cq_ex")
    void datagramsCompleteInPlace() throws RdmaException {
        players(inPlace().type(QueuePairType.UD)).exchange(SendOpcode.SEND);
    }

    @ConformanceCase(after = "test_cqex.rc_traffic_cq_ex")
    void messagesCompleteInPlace() throws RdmaException {
        players(inPlace()).exchange(SendOpcode.SEND);
    }

    @ConformanceCase(after = "test_cqex.create_cq_ex")
    void fieldsAndPromisesAreGivenOrRefusedByName() throws RdmaException {
        DeviceContext context = open();
        try (ExtendedCompletionQueue queue = context.createExtendedCompletionQueue(standard())) {
            assertThat(queue.fields()).contains(STANDARD);
            assertThat(queue.startPoll()).isFalse();
        }
        for (CompletionField field : CompletionField.values()) {
            boolean isGiven = createOrRefuse(context,
                    new CompletionQueueInitAttributes().capacity(10).fields(field), field.name());
            if (List.of(STANDARD).contains(field)) {
                assertThat(isGiven).as(field.name()).isTrue();
            }
            if (field == CompletionField.COMPLETION_TIMESTAMP) {
                assertThat(isGiven).as(field.name()).isEqualTo(
                        context.queryDevice().completionTimestampMask() != 0);
            }
        }
        createOrRefuse(context, new CompletionQueueInitAttributes().singleThreaded(true), "");
        createOrRefuse(context, new CompletionQueueInitAttributes().ignoreOverrun(true), "");
    }

    /** {@return whether the device has it; if not, it says so by name} */
    private static boolean createOrRefuse(DeviceContext context,
            CompletionQueueInitAttributes attributes, String word) throws RdmaException {
        try (ExtendedCompletionQueue queue = context.createExtendedCompletionQueue(attributes)) {
            assertThat(queue.capacity()).isGreaterThanOrEqualTo(attributes.capacity());
            assertThat(queue.fields()).containsAll(Set.copyOf(attributes.fields()));
            return true;
        } catch (RdmaException refusal) {
            assertThat(refusal.errno()).as(refusal.getMessage()).isEqualTo(Errno.EOPNOTSUPP);
            assertThat(refusal).hasMessageContaining(word);
            return false;
        }
    }

    @ConformanceCase(after = "test_cqex.create_cq_ex_bad_flow")
    void sizesAndVectorsOutOfRangeAreRefused() throws RdmaException {
        DeviceContext context = open();
        int tooMany = CompletionQueueConformance.largest(context) + 1;
        int noVector = context.queryDevice().completionVectors() + 1;
        assertRefused(
                () -> context.createCompletionQueue(
                        new CompletionQueueInitAttributes().capacity(tooMany)),
                Errno.EINVAL, Integer.toString(tooMany));
        assertRefused(
                () -> context.createCompletionQueue(
                        new CompletionQueueInitAttributes().completionVector(noVector)),
                Errno.EINVAL, Integer.toString(noVector));
    }
}
