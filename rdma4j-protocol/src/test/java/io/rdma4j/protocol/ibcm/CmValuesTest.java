// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectRequest;
import io.rdma4j.protocol.ibcm.CmMessage.Reject;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceReply;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceRequest;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Values of the connection manager's messages: addresses, services, receivers, private data. */
class CmValuesTest {
    private static final Gid V4 = new Gid(0, 0xffff_0a00_0001L);
    private static final Gid OTHER_V4 = new Gid(0, 0xffff_0a00_0002L);
    private static final Gid V6 = new Gid(0x2001_0db8_0000_0000L, 0x1234_5678_9abc_def0L);

    // ---------------------------------------------------------------- private data

    @Test
    void privateDataIsEqualToThatOfTheSameBytes() {
        byte[] bytes = {1, 2, 3};
        PrivateData data = PrivateData.of(bytes);
        assertThat(data).isEqualTo(PrivateData.of(bytes)).hasSameHashCodeAs(PrivateData.of(bytes))
                .isNotEqualTo(PrivateData.NONE).isNotEqualTo("bytes").hasToString("3 bytes");
        assertThat(data.hashCode()).isNotEqualTo(PrivateData.NONE.hashCode());
        bytes[0] = 9;
        assertThat(data.bytes()).containsExactly(1, 2, 3);
        assertThat(PrivateData.of(0x0102_0304_0506_0708L).bytes()).containsExactly(1, 2, 3, 4, 5, 6,
                7, 8);
    }

    // ---------------------------------------------------------------- time limits

    @ParameterizedTest
    @ValueSource(ints = {3, 60, 3600, CmSettings.LONGEST_SILENCE})
    void whoWaitsForSilentPeersWaitsSoLongAndNotTwice(int seconds) {
        CmSettings patient = CmSettings.defaults(1).forSilence(seconds);
        assertThat(8 * 4.096e-6 * Math.pow(2, patient.ackTimeout()))
                .isBetween((double) seconds, 2.0 * seconds);
        assertThat((patient.maxRetries() + 1) * 4.096e-6 * Math.pow(2, patient.responseTimeout()))
                .isBetween((double) seconds, Math.max(2.0 * seconds, 17.2));
        assertThat(patient.ackTimeout()).isLessThan(32);
    }

    @Test
    void aShortSilenceChangesNothing() {
        CmSettings usual = CmSettings.defaults(1);
        assertThat(usual.forSilence(0)).isEqualTo(usual);
        assertThat(usual.forSilence(2)).isEqualTo(usual);
    }

    // ---------------------------------------------------------------- addresses

    @ParameterizedTest
    @CsvSource({"BOTH, true, true", "IPV4, true, false", "IPV6, false, true"})
    void versionsIncludeAddresses(IpVersions versions, boolean v4, boolean v6) {
        assertThat(versions.include(V4)).isEqualTo(v4);
        assertThat(versions.include(V6)).isEqualTo(v6);
    }

    @ParameterizedTest
    @CsvSource({"BOTH, BOTH, true", "BOTH, IPV4, true", "BOTH, IPV6, true", "IPV4, IPV4, true",
        "IPV6, IPV6, true", "IPV4, IPV6, false"})
    void versionsOverlapEitherWayRound(IpVersions one, IpVersions other, boolean expected) {
        assertThat(one.overlap(other)).isEqualTo(expected);
        assertThat(other.overlap(one)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void addressHeaderIsReadAsItWasWritten(boolean isIpv6) {
        IpHeader header = new IpHeader(isIpv6, 0xfedc, isIpv6 ? V6 : V4, isIpv6 ? V6 : OTHER_V4);
        ByteBuffer bytes = ByteBuffer.allocate(IpHeader.LENGTH);
        header.encode(bytes);
        assertThat(bytes.get(1)).isEqualTo((byte) (isIpv6 ? 0x60 : 0x40));
        // Before the four bytes of an IPv4 address are twelve zeros.
        assertThat(bytes.getInt(12)).isEqualTo(isIpv6 ? 0x1234_5678 : 0);
        assertThat(IpHeader.decode(bytes.array())).isEqualTo(header);
    }

    @ParameterizedTest
    @CsvSource({"1, 0x40", "0, 0x50", "0, 0x30", "0, 0x70", "0, 0x00"})
    void addressHeaderOfAnotherVersionIsNone(int version, String ipVersion) {
        byte[] bytes = new byte[IpHeader.LENGTH];
        bytes[0] = (byte) version;
        bytes[1] = (byte) (int) Integer.decode(ipVersion);
        assertThat(IpHeader.decode(bytes)).isNull();
    }

    // ---------------------------------------------------------------- path MTUs

    @ParameterizedTest
    @EnumSource(Mtu.class)
    void pathMtuHasItsCode(Mtu mtu) {
        assertThat(CmSettings.mtu(mtu.code())).isEqualTo(mtu);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 6, 15})
    void codeOfNoPathMtuIsRefused(int code) {
        assertThatIllegalArgumentException().isThrownBy(() -> CmSettings.mtu(code))
                .withMessage("no MTU has the code " + code);
    }

    // ---------------------------------------------------------------- requests

    /** In front of the application's bytes is which addresses it is between. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void requestNamesItsAddressesInTheirVersion(boolean isIpv6) {
        Gid local = isIpv6 ? V6 : V4;
        Gid remote = isIpv6 ? new Gid(V6.high(), 7) : OTHER_V4;
        byte[] data = new ConnectSpec(new CmPeer(local, remote), PortSpace.TCP, QueuePairType.RC,
                40000, 7471, new ConnectionParameters().privateData(new byte[]{1, 2}), 5,
                Mtu.MTU_4096, 0, null).privateData().bytes();
        assertThat(IpHeader.decode(data)).isEqualTo(new IpHeader(isIpv6, 40000, local, remote));
        assertThat(data).endsWith(1, 2).hasSize(IpHeader.LENGTH + 2);
    }

    // ---------------------------------------------------------------- listeners

    private static ListenSpec offer(PortSpace space, int port, @Nullable Gid address,
            IpVersions versions) {
        return new ListenSpec(space, QueuePairType.RC, port, address, versions, 1);
    }

    @Test
    void listenerServesItsPortAtItsAddress() {
        ListenSpec one = offer(PortSpace.TCP, 7, V4, IpVersions.BOTH);
        ListenSpec any = offer(PortSpace.TCP, 7, null, IpVersions.IPV6);
        long id = ListenSpec.serviceId(PortSpace.TCP, 7);
        assertThat(id).isEqualTo(0x0000_0000_0106_0007L);
        assertThat(one.serves(id, V4)).isTrue();
        assertThat(one.serves(id, OTHER_V4)).isFalse();
        assertThat(one.serves(id + 1, V4)).isFalse();
        assertThat(any.serves(id, V6)).isTrue();
        assertThat(any.serves(id, V4)).isFalse();
    }

    @Test
    void listenersConflictIfARequestCouldBeMeantForEither() {
        ListenSpec one = offer(PortSpace.TCP, 7, V4, IpVersions.BOTH);
        assertConflict(one, offer(PortSpace.TCP, 7, V4, IpVersions.BOTH), true);
        assertConflict(one, offer(PortSpace.TCP, 7, null, IpVersions.BOTH), true);
        assertConflict(one, offer(PortSpace.TCP, 7, OTHER_V4, IpVersions.BOTH), false);
        assertConflict(one, offer(PortSpace.TCP, 8, V4, IpVersions.BOTH), false);
        assertConflict(one, offer(PortSpace.UDP, 7, V4, IpVersions.BOTH), false);
        assertConflict(offer(PortSpace.TCP, 7, null, IpVersions.IPV4),
                offer(PortSpace.TCP, 7, null, IpVersions.IPV6), false);
    }

    private static void assertConflict(ListenSpec one, ListenSpec other, boolean isConflict) {
        for (ListenSpec[] both : new ListenSpec[][]{{one, other}, {other, one}}) {
            if (isConflict) {
                assertThatExceptionOfType(RdmaException.class)
                        .isThrownBy(() -> both[0].requireNoConflict(both[1]));
            } else {
                assertThatCode(() -> both[0].requireNoConflict(both[1]))
                        .doesNotThrowAnyException();
            }
        }
    }

    // ---------------------------------------------------------------- who is meant by a message

    private static @Nullable CmAddressee addressee(CmMessage message) {
        // Somewhere in a larger buffer, as it comes from the network.
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH + 9);
        mad.position(9);
        CmMessage.encode(1, message, mad.slice());
        return CmAddressee.of(mad);
    }

    @ParameterizedTest
    @EnumSource(value = PortSpace.class, names = {"TCP", "UDP", "IB"})
    void requestsAreForAService(PortSpace space) {
        long service = ListenSpec.serviceId(space, 7471);
        assertThat(addressee(new ServiceRequest(5, 0xffff, service,
                PrivateData.of(new byte[IpHeader.LENGTH]))))
                .isEqualTo(new CmAddressee.Service((int) service));
    }

    @Test
    void laterMessagesAreForTheOwnerOfAnIdentifier() {
        assertThat(addressee(new ServiceReply(5, 0, PrivateData.NONE, 0, 1, 2, 3,
                PrivateData.NONE))).isEqualTo(new CmAddressee.Identifier(5));
        assertThat(addressee(new DisconnectRequest(5, 6, 7, PrivateData.NONE)))
                .isEqualTo(new CmAddressee.Identifier(6));
        assertThat(addressee(new Reject(5, 6, 0, 4, PrivateData.NONE, 0, PrivateData.NONE)))
                .isEqualTo(new CmAddressee.Identifier(6));
    }

    @Test
    void withdrawalsAreForWhoeverHasTheRequest() {
        assertThat(addressee(new Reject(5, 0, 0, 4, PrivateData.NONE, 0, PrivateData.NONE)))
                .isEqualTo(new CmAddressee.Requested(5));
    }

    @Test
    void otherDatagramsAreForNobody() {
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(1, new DisconnectRequest(5, 6, 7, PrivateData.NONE), mad.slice());
        assertThat(CmAddressee.of(mad)).isNotNull();
        assertThat(CmAddressee.of(mad.slice(0, 255))).isNull();
        mad.put(0, (byte) 2);
        assertThat(CmAddressee.of(mad)).isNull();
    }
}
