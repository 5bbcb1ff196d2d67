// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.queue.NativeQueuePair;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.EthernetMatch;
import io.rdma4j.verbs.Flow;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.FlowRuleType;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Raw packets, and flows that are steered to queue pairs, over a library made of Java. */
class FlowsTest {
    private static final FlowRule RULE = FlowRule.of(EthernetMatch.ANY.withDestination(1));

    private final FakeDriver driver = new FakeDriver();
    private final List<Long> steeredTo = new ArrayList<>();
    private final List<Long> freed = new ArrayList<>();
    private int attachAnswer;
    private int freeAnswer;

    @BeforeEach
    void driverSteers() {
        driver.operation(ContextOperation.QUERY_PORT, arguments -> 0);
        driver.operation(ContextOperation.CREATE_FLOW, arguments -> {
            steeredTo.add(arguments[0]);
            return attachAnswer == 0 ? driver.object(24) : FakeLibrary.fail(attachAnswer) + 1;
        });
        driver.operation(ContextOperation.DESTROY_FLOW, arguments -> {
            freed.add(arguments[0]);
            return freeAnswer;
        });
    }

    @AfterEach
    void libraryDidNotFail() throws IOException {
        driver.close();
    }

    private static void assertRefused(Errno errno, ThrowingCallable call, String... words) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call).satisfies(e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            assertThat(e.getMessage()).doesNotContain("\n");
            for (String word : words) {
                assertThat(e.getMessage()).contains(word);
            }
        });
    }

    private QueuePair queuePair(QueuePairType type) throws RdmaException {
        NativeContext context = driver.open();
        return context.allocateProtectionDomain().createQueuePair(new QueuePairInitAttributes()
                .type(type).completionQueue(context.createCompletionQueue(4)));
    }

    private QueuePair ready() throws RdmaException {
        QueuePair queuePair = queuePair(QueuePairType.RAW_PACKET);
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        return queuePair;
    }

    // ---------------------------------------------------------------- raw packets

    @Test
    void rawPacketsAreSent() throws RdmaException {
        driver.capabilities = DeviceCapability.RAW_IP_CSUM.bit();
        QueuePair queuePair = ready();
        assertThat(Native.getInt(driver.queuePairAttributes, Layout.QueuePairInitAttr.QP_TYPE))
                .isEqualTo(8);
        queuePair.postSend(new SendWorkRequest().add(0x1000, 60, 7).set(SendFlag.IP_CHECKSUM));
        assertThat(Native.getInt(driver.posted.getFirst(), SendRequest.OPCODE)).isEqualTo(2);
        assertThat(Native.getInt(driver.posted.getFirst(), SendRequest.SEND_FLAGS))
                .isEqualTo(1 << 4);
        assertRefused(Errno.EINVAL,
                () -> queuePair.postSend(new SendWorkRequest().opcode(SendOpcode.RDMA_WRITE)),
                "RAW_PACKET", "RDMA_WRITE");
        assertThat(driver.posted).hasSize(1);
    }

    @Test
    void checkSumThatTheDeviceDoesNotFillInIsRefused() throws RdmaException {
        QueuePair queuePair = ready();
        assertRefused(Errno.EOPNOTSUPP,
                () -> queuePair.postSend(new SendWorkRequest().set(SendFlag.IP_CHECKSUM)),
                "IP_CHECKSUM");
        assertThat(driver.posted).isEmpty();
    }

    @Test
    void processWithoutThePrivilegeIsToldWhichItLacks() throws RdmaException {
        driver.failures.put(VerbsSymbol.CREATE_QP, Errno.EPERM.number());
        assertRefused(Errno.EPERM, () -> queuePair(QueuePairType.RAW_PACKET), "CAP_NET_RAW");
        driver.failures.clear();
        attachAnswer = Errno.EPERM.number();
        QueuePair queuePair = queuePair(QueuePairType.RAW_PACKET);
        assertRefused(Errno.EPERM, () -> queuePair.attachFlow(RULE), "CAP_NET_RAW");
        queuePair.close();
    }

    // ---------------------------------------------------------------- flows

    @Test
    void flowIsOfItsQueuePairUntilItIsClosed() throws RdmaException {
        QueuePair queuePair = queuePair(QueuePairType.RAW_PACKET);
        Flow flow = queuePair.attachFlow(RULE);
        assertThat(flow.queuePair()).isSameAs(queuePair);
        assertThat(flow.rule()).isEqualTo(RULE);
        assertThat(steeredTo).containsExactly(((NativeQueuePair) queuePair).pointer());
        assertRefused(Errno.EBUSY, queuePair::close, "1 flow(s)");
        freeAnswer = Errno.EIO.number();
        assertRefused(Errno.EIO, flow::close);
        assertRefused(Errno.EBUSY, queuePair::close, "1 flow(s)");
        freeAnswer = 0;
        flow.close();
        flow.close();
        assertThat(freed).hasSize(2);
        queuePair.close();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> queuePair.attachFlow(RULE));
        assertThat(steeredTo).hasSize(1);
    }

    @Test
    void refusalOfTheDeviceNamesTheRule() throws RdmaException {
        attachAnswer = Errno.EINVAL.number();
        QueuePair queuePair = queuePair(QueuePairType.UD);
        assertRefused(Errno.EINVAL, () -> queuePair.attachFlow(RULE), "EthernetMatch");
        queuePair.close();
    }

    @Test
    void flowsAreForQueuePairsOfFrames() throws RdmaException {
        QueuePair queuePair = queuePair(QueuePairType.RC);
        assertRefused(Errno.EINVAL, () -> queuePair.attachFlow(RULE), "RAW_PACKET", "RC");
        assertThat(steeredTo).isEmpty();
    }

    @Test
    void deviceThatDoesNotSteerRefuses() throws RdmaException {
        driver.put(ContextOperation.CREATE_FLOW.offset(), 0);
        QueuePair queuePair = queuePair(QueuePairType.RAW_PACKET);
        assertRefused(Errno.EOPNOTSUPP,
                () -> queuePair.attachFlow(FlowRule.of(FlowRuleType.SNIFFER)),
                "driver does not offer");
    }
}
