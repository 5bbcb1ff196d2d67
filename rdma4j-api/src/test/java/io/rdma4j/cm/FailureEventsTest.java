// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.connection.SidrStatus;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What events of failures say: the error, its number, and a text for people. */
class FailureEventsTest extends IdsOfOneDevice {
    @Test
    void eventsOfFailedStepsSayWhy() throws Exception {
        CmId id = bound(PortSpace.TCP, FakeDevice.FIRST);
        id.resolveAddress(new InetSocketAddress(InetAddress.ofLiteral("2001:db8::1"), 1), TIMEOUT);
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.cause()).isNotNull();
            assertThat(event.description()).contains("not of the same IP version");
            assertThat(event.failure("connect").errno()).isEqualTo(Errno.EADDRNOTAVAIL);
            assertThat(event.failure("connect")).hasMessageEndingWith(
                    "are not of the same IP version (EADDRNOTAVAIL)").hasMessageStartingWith(
                            "connect: resolve address: ");
            assertThat(event.failure("resolve address")).hasMessageStartingWith(
                    "resolve address: 203.0.113.5 and ");
        }
        CmId silent = connecting();
        FakeProvider.DEVICE.context().handlers.getLast().onUnreachable(Errno.ETIMEDOUT);
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.id()).isSameAs(silent);
            assertThat(event.failure("connect").errno()).isEqualTo(Errno.ETIMEDOUT);
        }
    }

    @Test
    void eventOfASuccessIsNoFailure() throws Exception {
        CmId id = bound(PortSpace.TCP, FakeDevice.FIRST);
        id.resolveAddress(PEER, TIMEOUT);
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.isFailure()).isFalse();
            assertThatIllegalStateException().isThrownBy(() -> event.failure("connect"))
                    .withMessage("connect: RDMA_CM_EVENT_ADDR_RESOLVED is no failure");
        }
    }

    @Test
    void outcomeLeftFromAnotherTimeIsNamed() throws Exception {
        CmId id = bound(PortSpace.TCP, FakeDevice.FIRST);
        id.resolveAddress(PEER, TIMEOUT);
        id.migrate(null);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> id.resolveRoute(TIMEOUT))
                .withMessage("resolve route: RDMA_CM_EVENT_ADDR_RESOLVED came instead of"
                        + " RDMA_CM_EVENT_ROUTE_RESOLVED (EINVAL)");
    }

    @Test
    void connectionThatIsNotThereIsNamed() throws Exception {
        CmId id = bound(PortSpace.TCP, FakeDevice.FIRST);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(id::accept).withMessage(
                "accept: the id stands for no request; what can be accepted is the id that"
                        + " CONNECT_REQUEST or awaitRequest brings (EINVAL)");
        assertThatExceptionOfType(RdmaException.class).isThrownBy(id::disconnect).withMessage(
                "disconnect: the id is not connected, so there is nothing to end; closing it is"
                        + " enough (EINVAL)");
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> id.initQueuePairAttributes(QueuePairState.RTR))
                .withMessageContainingAll("peer's parameters", "CONNECT_RESPONSE");
    }

    @Test
    void unansweredConnectionsAreUnreachable() throws Exception {
        CmId client = connecting();
        FakeProvider.DEVICE.context().handlers.getLast().onUnreachable(Errno.ETIMEDOUT);
        expect(CmEventType.UNREACHABLE, client, -Errno.ETIMEDOUT.number());
    }

    @ParameterizedTest
    @CsvSource({"ETIMEDOUT, the peer did not answer in time",
        "ECONNREFUSED, no process has the port at the peer's address",
        "EHOSTUNREACH, no host answers at the peer's address",
        "ENETUNREACH, there is no route to the peer's address",
        "EINVAL, 'the connection could not be established: Invalid argument'"})
    void unreachableSaysWhy(Errno reason, String text) throws Exception {
        connecting();
        FakeProvider.DEVICE.context().handlers.getLast().onUnreachable(reason);
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.description()).isEqualTo(text);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Errno.class, mode = EnumSource.Mode.EXCLUDE, names = "UNKNOWN")
    void noTextOfAFailureHasABareNumberOrTheNameOfAnotherError(Errno reason) throws Exception {
        CmId client = connecting();
        FakeProvider.DEVICE.context().handlers.getLast().onUnreachable(reason);
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.id()).isSameAs(client);
            assertThat(event.status()).isEqualTo(-reason.number());
            RdmaException failure = event.failure("connect");
            assertThat(failure.errno()).isEqualTo(reason);
            assertThat(failure).hasMessageEndingWith(" (" + reason + ")");
            assertThat(event.toString()).contains("(" + reason + ")");
            assertThat(event.description() + failure.detail()).doesNotContainPattern("\\d");
        }
    }

    @ParameterizedTest
    @EnumSource(RejectReason.class)
    void everyRejectionTellsItsReasonInNumbersWordsAndBytes(RejectReason reason) throws Exception {
        CmId client = connecting();
        FakeProvider.DEVICE.context().handlers.getLast().onRefused(
                new Refusal(reason.code(), reason.text(), new byte[]{1, 2}));
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(CmEventType.REJECTED);
            assertThat(event.id()).isSameAs(client);
            assertThat(event.status()).isEqualTo(reason.code());
            assertThat(event.privateData()).containsExactly(1, 2);
            assertThat(event.description())
                    .isEqualTo("rejected (" + reason.code() + ": " + reason.text() + ")");
            assertThat(event.failure("connect").errno()).isEqualTo(Errno.ECONNREFUSED);
        }
    }

    @ParameterizedTest
    @EnumSource(SidrStatus.class)
    void datagramServiceThatSaysNoIsUnreachableWithItsStatus(SidrStatus status) throws Exception {
        CmId client = lookingUp();
        FakeProvider.DEVICE.context().lookupHandlers.getLast()
                .onRefused(new Refusal(status.code(), status.text(), new byte[]{3}));
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(CmEventType.UNREACHABLE);
            assertThat(event.id()).isSameAs(client);
            assertThat(event.status()).isEqualTo(status.code());
            assertThat(event.privateData()).containsExactly(3);
            assertThat(event.description()).isEqualTo(
                    "the service said no (" + status.code() + ": " + status.text() + ")");
            assertThat(event.failure("connect").errno()).isEqualTo(Errno.ECONNREFUSED);
        }
    }
}
