// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.values;

import io.rdma4j.ibverbs.abi.Layout.AddressHandleAttr;
import io.rdma4j.ibverbs.abi.Layout.QueuePairAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PathMigrationState;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.Set;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class QueuePairValuesTest {
    private static final Gid PEER = Gid.of(InetAddress.ofLiteral("192.0.2.9"));

    private final MemorySegment kernels = MemorySegment.ofArray(new byte[144]);

    @Test
    void allThatAConnectionDecidesIsTaken() throws RdmaException {
        Native.putInt(kernels, QueuePairAttr.QP_STATE, 2);
        Native.putInt(kernels, QueuePairAttr.PATH_MTU, 3);
        Native.putInt(kernels, QueuePairAttr.RQ_PSN, 0x111111);
        Native.putInt(kernels, QueuePairAttr.SQ_PSN, 0x222222);
        Native.putInt(kernels, QueuePairAttr.DEST_QP_NUM, 0x333333);
        Native.putInt(kernels, QueuePairAttr.QP_ACCESS_FLAGS, 6);
        Native.putShort(kernels, QueuePairAttr.PKEY_INDEX, 5);
        Native.putByte(kernels, QueuePairAttr.MIN_RNR_TIMER, 12);
        Native.putByte(kernels, QueuePairAttr.PORT_NUM, 2);
        Native.putByte(kernels, QueuePairAttr.TIMEOUT, 18);
        Native.putByte(kernels, QueuePairAttr.RETRY_CNT, 6);
        Native.putByte(kernels, QueuePairAttr.RNR_RETRY, 7);
        long path = QueuePairAttr.AH_ATTR;
        MemorySegment.copy(PEER.bytes(), 0, kernels, JAVA_BYTE, path, 16);
        Native.putInt(kernels, path + AddressHandleAttr.FLOW_LABEL, 0x54321);
        Native.putByte(kernels, path + AddressHandleAttr.SGID_INDEX, 1);
        Native.putByte(kernels, path + AddressHandleAttr.HOP_LIMIT, 64);
        Native.putByte(kernels, path + AddressHandleAttr.TRAFFIC_CLASS, 0xa8);
        Native.putByte(kernels, path + AddressHandleAttr.SL, 3);
        Native.putByte(kernels, path + AddressHandleAttr.IS_GLOBAL, 1);
        Native.putByte(kernels, path + AddressHandleAttr.PORT_NUM, 2);

        QueuePairAttributes taken = QueuePairValues.read(kernels,
                1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11
                        | 1 << 12 | 1 << 15 | 1 << 16 | 1 << 20);

        assertThat(taken.mask()).hasSize(13);
        assertThat(taken.state()).isEqualTo(QueuePairState.RTR);
        assertThat(taken.pathMtu()).isEqualTo(Mtu.MTU_1024);
        assertThat(taken.receivePsn()).isEqualTo(0x111111);
        assertThat(taken.sendPsn()).isEqualTo(0x222222);
        assertThat(taken.destinationQueuePairNumber()).isEqualTo(0x333333);
        assertThat(taken.accessFlags())
                .isEqualTo(Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
        assertThat(taken.pkeyIndex()).isEqualTo(5);
        assertThat(taken.minRnrTimerCode()).isEqualTo(12);
        assertThat(taken.port()).isEqualTo(2);
        assertThat(taken.ackTimeoutExponent()).isEqualTo(18);
        assertThat(taken.retryCount()).isEqualTo(6);
        assertThat(taken.rnrRetry()).isEqualTo(7);
        assertThat(taken.addressVector()).isEqualTo(AddressHandleAttributes.to(PEER, 1)
                .withFlowLabel(0x54321).withTrafficClass(0xa8).withServiceLevel(3).withPort(2));
    }

    @Test
    void marksOfOldKernelsAreLeftOut() throws RdmaException {
        assertThat(QueuePairValues.read(kernels, 1 << 21 | 1 << 22 | 1 << 23 | 1 << 24 | 1 << 25)
                .mask())
                .containsExactly(QueuePairAttribute.RATE_LIMIT);
    }

    @Test
    void noMarksAreNoAttributes() throws RdmaException {
        assertThat(QueuePairValues.read(kernels, 0).mask()).isEmpty();
    }

    @Test
    void whatDoesNotExistIsRefused() {
        Native.putInt(kernels, QueuePairAttr.PATH_MTU, 9);
        Native.putInt(kernels, QueuePairAttr.QP_STATE, 77);
        Native.putInt(kernels, QueuePairAttr.CUR_QP_STATE, -1);

        assertRefused(1 << 8, "path MTU of number 9");
        assertRefused(1, "state of number 77");
        assertRefused(1 << 1, "state of number -1");
    }

    private void assertRefused(int mask, String what) {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> QueuePairValues.read(kernels, mask))
                .withMessageContaining(what)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
    }

    @Test
    void stateOfPathMigrationThatDoesNotExistIsLeftOut() throws RdmaException {
        int mask = 1 << 18;
        Native.putInt(kernels, QueuePairAttr.PATH_MIG_STATE, 2);
        assertThat(QueuePairValues.read(kernels, mask).pathMigrationState())
                .isEqualTo(PathMigrationState.ARMED);

        Native.putInt(kernels, QueuePairAttr.PATH_MIG_STATE, 9);
        assertThat(QueuePairValues.read(kernels, mask).mask()).isEmpty();
    }
}
