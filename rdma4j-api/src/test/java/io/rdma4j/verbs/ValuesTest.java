// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The reusable objects of the caller, and the enums that carry the standard's values. */
class ValuesTest {
    @Test
    void attributesKnowWhichAreSet() {
        QueuePairAttributes attributes = new QueuePairAttributes().ackTimeoutExponent(14)
                .state(QueuePairState.RTS);
        assertThat(attributes.mask()).containsExactlyInAnyOrder(QueuePairAttribute.TIMEOUT,
                QueuePairAttribute.STATE);
        assertThat(attributes.ackTimeoutExponent()).isEqualTo(14);
        assertThatIllegalStateException().isThrownBy(attributes::pathMtu)
                .withMessageContaining("PATH_MTU (path_mtu) is not set");
        attributes.unset(QueuePairAttribute.TIMEOUT);
        assertThatIllegalStateException().isThrownBy(attributes::ackTimeoutExponent);
        QueuePairAttributes merged = new QueuePairAttributes().qkey(7).merge(attributes);
        assertThat(merged.qkey()).isEqualTo(7);
        assertThat(merged.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void attributesOutOfTheirRangeAreRefusedAtOnce() {
        QueuePairAttributes attributes = new QueuePairAttributes();
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.ackTimeoutExponent(32))
                .withMessage("timeout must be from 0 to 31, not 32");
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.retryCount(8));
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.sendPsn(1 << 24));
        assertThat(attributes.mask()).isEmpty();
    }

    @Test
    void successIsRequiredInOneCall() throws FailedCompletionException {
        WorkCompletion.of(1, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.SEND, 8)
                .requireSuccess("send");
        WorkCompletion failed = WorkCompletion.of(7, WorkCompletionStatus.REMOTE_ACCESS_ERROR,
                WorkCompletionOpcode.RDMA_WRITE, 0);
        assertThatExceptionOfType(FailedCompletionException.class)
                .isThrownBy(() -> failed.requireSuccess("write"))
                .withMessageStartingWith("write: id=7 ").satisfies(e -> {
                    assertThat(e.errno()).isEqualTo(Errno.EIO);
                    assertThat(e.status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
                    assertThat(e.statusCode()).isEqualTo(failed.statusCode());
                    assertThat(e.requestId()).isEqualTo(7);
                });
    }

    @Test
    void flagsThatAreNamedTwiceCountOnce() {
        assertThat(new MemoryRegionChanges()
                .access(AccessFlag.LOCAL_WRITE, AccessFlag.LOCAL_WRITE).access())
                .containsExactly(AccessFlag.LOCAL_WRITE);
        assertThat(new CompletionQueueInitAttributes().fields(CompletionField.BYTE_LENGTH,
                CompletionField.BYTE_LENGTH).fields()).containsExactly(CompletionField.BYTE_LENGTH);
        assertThat(new QueuePairInitAttributes().sendOperations(SendOpcode.SEND, SendOpcode.SEND)
                .sendOperations()).containsExactly(SendOpcode.SEND);
    }

    @Test
    void pathValuesThatTheirFieldCannotHoldAreRefusedAtOnce() {
        AddressHandleAttributes path = AddressHandleAttributes.to(Gid.ZERO, 1);
        assertThatIllegalArgumentException().isThrownBy(() -> path.withHopLimit(-1))
                .withMessage("hop_limit must be from 0 to 255, not -1");
        assertThatIllegalArgumentException().isThrownBy(() -> path.withFlowLabel(1 << 20))
                .withMessage("flow_label must be from 0 to 1048575, not 1048576");
        assertThatIllegalArgumentException().isThrownBy(() -> path.withTrafficClass(256));
        assertThatIllegalArgumentException().isThrownBy(() -> path.withServiceLevel(16));
        assertThatIllegalArgumentException().isThrownBy(() -> path.withSourcePathBits(128));
        assertThatIllegalArgumentException().isThrownBy(() -> path.withDestinationLid(1 << 16));
        assertThatIllegalArgumentException().isThrownBy(() -> path.withStaticRateCode(-1));
    }

    @Test
    void pathDescribesTheSameWayButForWhatIsChanged() {
        AddressHandleAttributes path = AddressHandleAttributes.to(Gid.ZERO, 1).withServiceLevel(2)
                .withSourcePathBits(3).withStaticRateCode(3)
                .withDestinationLid(5).withGlobal(false).withPort(7).withFlowLabel(8)
                .withHopLimit(9).withTrafficClass(10).withSourceGidIndex(11)
                .withDestination(new Gid(0, 12));
        assertThat(path).isEqualTo(new AddressHandleAttributes(new Gid(0, 12), 11, 8, 9, 10, 5, 2,
                3, 3, false, 7));
    }

    @Test
    void accessBitsThatAreOptionalMayBeUnknown() {
        assertThat(AccessFlag.ofBits(1 | 1 << 20 | 1 << 29))
                .containsExactlyInAnyOrder(AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING);
        assertThat(AccessFlag.ofBits(AccessFlag.OPTIONAL_RANGE))
                .containsExactly(AccessFlag.RELAXED_ORDERING);
        assertThat(AccessFlag.bits(AccessFlag.ofBits(0x3ff))).isEqualTo(0x3ff);
        assertThatIllegalArgumentException().isThrownBy(() -> AccessFlag.ofBits(1 | 1 << 10))
                .withMessage("access flag 0x400 is unknown; only those of 0x3ff00000 may be");
        assertThatIllegalArgumentException().isThrownBy(() -> AccessFlag.ofBits(1 << 30));
    }

    @Test
    void requestsCanBeClearedAndUsedAgain() {
        SendWorkRequest request = new SendWorkRequest().id(3).read(5, 7).add(1, 2, 3)
                .set(SendFlag.SIGNALED).set(SendFlag.FENCE);
        assertThat(request.has(SendFlag.FENCE)).isTrue();
        assertThat(request.elements().totalLength()).isEqualTo(2);
        request.set(SendFlag.FENCE, false);
        assertThat(request.flags()).isEqualTo(SendFlag.SIGNALED.bit());
        request.clear();
        assertThat(request.opcode()).isEqualTo(SendOpcode.SEND);
        assertThat(request.elements().count()).isZero();
        assertThat(request.flags()).isZero();
        assertThatIllegalArgumentException().isThrownBy(() -> request.add(0, -1, 0));
    }

    @ParameterizedTest
    @EnumSource
    void everyStatusExplainsItself(WorkCompletionStatus status) {
        assertThat(status.text()).isNotBlank();
        assertThat(status.explanation()).startsWith(status.meaning()).endsWith(".");
        if (status != WorkCompletionStatus.SUCCESS) {
            assertThat(status.usualCause()).isNotBlank();
            assertThat(status.usualCause()).endsWith(".");
            assertThat(status.lookAt()).isNotBlank().doesNotEndWith(".").hasSizeGreaterThan(20);
            assertThat(status.explanation()).doesNotContain("\n")
                    .matches("[A-Z].*\\. Usual cause: [A-Z].*\\. Look at: [a-z].*\\.");
        }
    }

    @Test
    void numbersAreThoseOfC() {
        assertThat(WorkCompletionStatus.values()).hasSize(25);
        assertThat(WorkCompletionStatus.RNR_RETRY_EXCEEDED_ERROR.code()).isEqualTo(13);
        assertThat(WorkCompletionOpcode.values()).hasSize(19);
        assertThat(SendOpcode.values()).hasSize(12);
        assertThat(AsyncEventType.values()).hasSize(22);
        assertThat(QueuePairAttribute.values()).hasSize(22);
        assertThat(AccessFlag.RELAXED_ORDERING.bit()).isEqualTo(1 << 20);
        assertThat(Mtu.ofCode(5)).isEqualTo(Mtu.MTU_4096);
        assertThat(Mtu.ofBytes(1024)).isEqualTo(Mtu.MTU_1024);
        assertThat(Mtu.ofCode(6)).isNull();
    }
}
