// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.SidrStatus;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceReply;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceRequest;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Looking up datagram services (SIDR) over a wire that loses, repeats and reorders. */
class DatagramServicesTest extends CmPair {
    private static final String FOUND = "service at 0x333333 with 0x01234567";

    @Test
    void lookUpFindsQueuePairAndQkeyOfTheService() throws Exception {
        listenForLookups(1);
        server.own.privateData(new byte[]{4, 5});
        client.lookUp(new byte[]{1, 2, 3});
        run(1);
        assertThat(client.events).containsExactly(FOUND);
        assertThat(server.events).containsExactly("look-up from port 40000");
        assertThat(server.heard).isEqualTo(Arrays.copyOf(new byte[]{1, 2, 3}, 180));
        assertThat(client.heard).isEqualTo(Arrays.copyOf(new byte[]{4, 5}, 136));
        assertThat(carried).hasSize(2);
        assertThat(client.manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ServiceRequest", "ServiceReply"})
    void lostMessagesAreSentAgainAndTheApplicationHearsOnce(String type) throws Exception {
        isLost = first(type, 3);
        listenForLookups(1);
        client.lookUp(new byte[0]);
        settle();
        assertThat(client.events).containsExactly(FOUND);
        assertThat(server.events).containsExactly("look-up from port 40000");
        assertThat(server.manager.connectionCount()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ServiceRequest", "ServiceReply"})
    void repeatedMessagesChangeNothing(String type) throws Exception {
        isRepeated = message -> message.getClass().getSimpleName().equals(type);
        listenForLookups(1);
        client.lookUp(new byte[0]);
        settle();
        assertThat(client.events).containsExactly(FOUND);
        assertThat(server.events).containsExactly("look-up from port 40000");
    }

    @Test
    void serviceThatTakesItsTimeIsAskedAgainAndHearsOnce() throws Exception {
        server.acceptsAtOnce = false;
        listenForLookups(1);
        client.lookUp(new byte[0]);
        run(5_000_000_000L);
        assertThat(count(ServiceRequest.class)).isGreaterThan(3);
        server.acceptsAtOnce = true;
        settle();
        assertThat(client.events).containsExactly(FOUND);
        assertThat(server.events).containsExactly("look-up from port 40000");
    }

    @Test
    void silentPeerIsUnreachableAfterAllRetries() throws Exception {
        isLost = message -> true;
        client.lookUp(new byte[0]);
        settle();
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
        assertThat(count(ServiceRequest.class)).isEqualTo(16);
    }

    @Test
    void serviceNobodyOffersIsRefusedAtOnce() throws Exception {
        listen(1); // Connections at the same port are another service.
        client.lookUp(new byte[0]);
        run(1);
        assertThat(client.events).containsExactly("refused " + SidrStatus.UNSUPPORTED.code());
        assertThat(server.events).isEmpty();
    }

    @Test
    void applicationsRefusalCarriesItsBytes() throws Exception {
        server.acceptsAtOnce = false;
        listenForLookups(1);
        client.lookUp(new byte[0]);
        run(1);
        DatagramRequest asked = server.asked;
        assertThat(asked).isNotNull();
        asked.reject(new byte[]{7}, nowNs);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> asked.accept(1, 1, new byte[0], nowNs))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        run(1);
        assertThat(client.events).containsExactly("refused 2");
        assertThat(client.heard).startsWith(7).hasSize(136);
    }

    @Test
    void lookUpsBeyondTheBacklogAreRefused() throws Exception {
        server.acceptsAtOnce = false;
        listenForLookups(1);
        client.lookUp(new byte[0]);
        run(1);
        client.lookUp(new byte[0]);
        run(1);
        assertThat(client.events).containsExactly("refused " + SidrStatus.NO_QP.code());
        assertThat(server.events).hasSize(1);
    }

    @Test
    void requestThatIsClosedUnansweredIsRefused() throws Exception {
        server.acceptsAtOnce = false;
        listenForLookups(1);
        client.lookUp(new byte[0]);
        run(1);
        DatagramRequest asked = server.asked;
        assertThat(asked).isNotNull();
        asked.close(nowNs);
        asked.close(nowNs);
        run(1);
        assertThat(client.events).containsExactly("refused 2");
    }

    /** Another manager would refuse a look-up that was accepted here, if the answer was lost. */
    @Test
    void aClosedServiceIsNeededAsLongAsItsAnswersAreRemembered() throws Exception {
        server.acceptsAtOnce = false;
        DatagramService service = listenForLookups(1);
        client.lookUp(new byte[0]);
        run(1);
        AtomicInteger unneeded = new AtomicInteger();
        service.close(unneeded::incrementAndGet);
        Objects.requireNonNull(server.asked).accept(5, 6, new byte[0], nowNs);
        run(1);
        assertThat(unneeded).hasValue(0);
        settle();
        assertThat(unneeded).hasValue(1);
    }

    @Test
    void aClosedServiceWithoutLookUpsIsNotNeeded() throws Exception {
        AtomicInteger unneeded = new AtomicInteger();
        listenForLookups(1).close(unneeded::incrementAndGet);
        assertThat(unneeded).hasValue(1);
    }

    @Test
    void aServiceIsNotNeededWhenItsDeviceIsClosed() throws Exception {
        server.acceptsAtOnce = false;
        DatagramService service = listenForLookups(1);
        client.lookUp(new byte[0]);
        run(1);
        AtomicInteger unneeded = new AtomicInteger();
        service.close(unneeded::incrementAndGet);
        server.manager.closeAll(nowNs);
        assertThat(unneeded).hasValue(1);
        run(1);
        assertThat(client.events).containsExactly("refused 2");
    }

    @Test
    void cancelledLookUpIsNotReported() throws Exception {
        listenForLookups(1);
        client.lookUp(new byte[0]).close();
        settle();
        assertThat(client.events).isEmpty();
        assertThat(client.manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void repliesOfStrangersOrForOtherServicesAreIgnored() throws Exception {
        isLost = message -> true;
        client.lookUp(new byte[0]);
        run(1);
        ServiceRequest request = (ServiceRequest) carried.getFirst();
        Gid stranger = new Gid(0, 0xffff_0a00_0009L);
        client.receive(stranger, 0, reply(request.requestId(), request.serviceId()));
        client.receive(SERVER, 0, reply(request.requestId(), request.serviceId() + 1));
        client.receive(SERVER, 0, reply(request.requestId() + 1, request.serviceId()));
        assertThat(client.events).isEmpty();
        client.receive(SERVER, 0, reply(request.requestId(), request.serviceId()));
        client.receive(SERVER, 0, reply(request.requestId(), request.serviceId()));
        assertThat(client.events).containsExactly("service at 0x5 with 0x00000006");
    }

    @Test
    void replyIsOfALookUpIfThatWaitsForIt() throws Exception {
        Gid stranger = new Gid(0, 0xffff_0a00_0009L);
        for (boolean isCancelled : new boolean[]{false, true}) {
            DatagramLookup lookup = client.lookUp(new byte[0]);
            ServiceRequest request = (ServiceRequest) Objects.requireNonNull(client.next());
            int requestId = request.requestId();
            assertThat(isOfClient(stranger, reply(requestId, request.serviceId()))).isFalse();
            assertThat(isOfClient(SERVER, reply(requestId, request.serviceId() + 1))).isFalse();
            assertThat(isOfClient(SERVER, reply(requestId + 1, request.serviceId()))).isFalse();
            if (isCancelled) {
                lookup.close();
            }
            assertThat(isOfClient(SERVER, reply(requestId, request.serviceId())))
                    .isEqualTo(!isCancelled);
            assertThat(isOfClient(SERVER, reply(requestId, request.serviceId()))).isFalse();
        }
        assertThat(client.events).containsExactly("service at 0x5 with 0x00000006");
    }

    private boolean isOfClient(Gid from, ServiceReply reply) {
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(1, reply, mad);
        return client.manager.onMad(mad.flip(), new CmPeer(CLIENT, from), nowNs);
    }

    private static ServiceReply reply(int requestId, long serviceId) {
        return new ServiceReply(requestId, 0, PrivateData.NONE, 0, 5, serviceId, 6,
                PrivateData.NONE);
    }

    @Test
    void addressHeaderOfAnotherVersionIsRefused() throws Exception {
        listenForLookups(1);
        byte[] other = new byte[216];
        other[0] = 1;
        other[1] = 0x40;
        CmMessage answer = server.receive(CLIENT, 9, new ServiceRequest(77, 0xffff,
                ListenSpec.serviceId(PortSpace.UDP, PORT), PrivateData.of(other)));
        assertThat(answer).isInstanceOfSatisfying(ServiceReply.class,
                reply -> assertThat(reply.status())
                        .isEqualTo(SidrStatus.UNSUPPORTED_VERSION.code()));
        assertThat(server.events).isEmpty();
    }

    @Test
    void listenersOfDifferentIpVersionsShareAPort() throws Exception {
        ListenSpec ipv6 = new ListenSpec(PortSpace.UDP, QueuePairType.UD, PORT, null,
                IpVersions.IPV6, 1);
        server.manager.listenForLookups(ipv6, server);
        client.lookUp(new byte[0]);
        run(1);
        assertThat(client.events).containsExactly("refused 1");
        server.manager.listenForLookups(
                new ListenSpec(PortSpace.UDP, QueuePairType.UD, PORT, null, IpVersions.IPV4, 1),
                server);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> listenForLookups(1))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
    }

    @Test
    void floodOfLookUpsIsBoundedInMemory() throws Exception {
        server.acceptsAtOnce = false;
        listenForLookups(10);
        for (int i = 1; i <= 10_000; i++) {
            server.receive(CLIENT, i, new ServiceRequest(i, 0xffff,
                    ListenSpec.serviceId(PortSpace.UDP, PORT), call(server.own, 1).privateData()));
        }
        assertThat(server.manager.connectionCount()).isEqualTo(10);
        assertThat(server.events).hasSize(10);
    }

    @Test
    void answersAreRememberedForAWhileAndNotWithoutBound() throws Exception {
        listenForLookups(1);
        for (int i = 1; i <= 10_000; i++) {
            server.receive(CLIENT, i, new ServiceRequest(i, 0xffff,
                    ListenSpec.serviceId(PortSpace.UDP, PORT), call(server.own, 1).privateData()));
            server.act();
            server.next();
        }
        assertThat(server.events).hasSize(10_000);
        assertThat(server.manager.connectionCount()).isEqualTo(DatagramServices.MAX_ANSWERED);
        settle();
        assertThat(server.manager.connectionCount()).isZero();
    }
}
