// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.device.PortView;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.PoisonedQueuePair;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A device whose engine cannot go on, by an error in its thread: whoever waits for it is told, and it can be opened anew. */
@ParameterizedClass
@ValueSource(strings = {"roce", "iwarp"})
@Timeout(120)
class FailedDeviceTest extends CmStage {
    private final String kind;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    FailedDeviceTest(String kind) {
        this.kind = kind;
    }

    @AfterEach
    void threadsEnd() {
        threads.shutdown();
    }

    private CmId own(PortSpace space) throws RdmaException {
        CmId id = closedAtEnd(CmId.create(space));
        id.device(kind);
        return id;
    }

    private CmId told(PortSpace space) throws RdmaException {
        CmId id = id(space);
        id.device(kind);
        return id;
    }

    private CmId listening(CmId id, String address) throws RdmaException {
        id.bindAddress(anyPort(address));
        id.listen(4);
        return id;
    }

    private CmId routed(CmId client, CmId server) throws RdmaException {
        client.resolveAddress(server.localAddress(), TIMEOUT);
        client.resolveRoute(TIMEOUT);
        client.createQueuePair(new QueuePairInitAttributes().type(client.queuePairType()));
        return client;
    }

    private interface Step {
        void take() throws RdmaException;
    }

    private Future<?> begin(Step step) {
        return threads.submit(() -> {
            step.take();
            return null;
        });
    }

    /** Stops the engine of an id's device, and waits until that is reported. {@return what drives the engine} */
    private static EngineDriver fail(CmId of) throws Exception {
        SoftDeviceContext context = (SoftDeviceContext) of.context();
        EngineDriver driver = context.nic().driver();
        PoisonedQueuePair.poison(driver);
        try (AsyncEvent event = nextFatal(context)) {
            assertThat(event.port()).isOne();
        }
        assertThat(driver.hasFailed()).isTrue();
        return driver;
    }

    private static AsyncEvent nextFatal(DeviceContext context) throws RdmaException {
        while (true) {
            AsyncEvent event = context.asyncEventChannel().pollEvent(LONG);
            assertThat(event).isNotNull();
            if (event.type() == AsyncEventType.DEVICE_FATAL) {
                return event;
            }
            event.acknowledge();
        }
    }

    private static void assertNoDevice(Future<?> step) {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> step.get(20, TimeUnit.SECONDS)).havingCause()
                .isInstanceOfSatisfying(RdmaException.class,
                        e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    }

    private static void assertNoDevice(ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    }

    /** The ids of a device are told one after the other, in any order. */
    private void expectRemovals(CmId... of) throws RdmaException {
        Set<CmId> missing = new HashSet<>(List.of(of));
        while (!missing.isEmpty()) {
            try (CmEvent event = events.pollEvent(LONG)) {
                assertThat(event).as("DEVICE_REMOVAL").isNotNull();
                if (event.type() == CmEventType.DEVICE_REMOVAL) {
                    missing.remove(event.id());
                }
            }
        }
    }

    @Test
    void connectingEnds() throws Exception {
        CmId server = listening(told(PortSpace.TCP), OWN);
        CmId client = routed(own(PortSpace.TCP), server);
        Future<?> connecting = begin(() -> client.connect(new ConnectionParameters()));
        CmId request = closedAtEnd(request());
        fail(server);
        assertNoDevice(connecting);
        expectRemovals(server, request);
        assertNoDevice(() -> request.accept());
        assertNoDevice(client::disconnect);
        assertNoDevice(() -> server.listen(1));
    }

    /** A peer has not disconnected, so nobody is told so. */
    @Test
    void connectedIdsHearOfTheRemovalAlone() throws Exception {
        CmId server = listening(told(PortSpace.TCP), OWN);
        CmId client = told(PortSpace.TCP);
        client.resolveAddress(server.localAddress(), TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED).close();
        client.resolveRoute(TIMEOUT);
        expect(CmEventType.ROUTE_RESOLVED).close();
        client.createQueuePair();
        client.connect(new ConnectionParameters());
        CmId request = closedAtEnd(request());
        request.createQueuePair();
        request.accept();
        expect(CmEventType.ESTABLISHED).close();
        expect(CmEventType.ESTABLISHED).close();
        SoftDeviceContext context = (SoftDeviceContext) client.context();
        ((SoftNic) context.nic()).onPort(new PortView(false, false, List.of()));
        Set<CmId> told = new HashSet<>();
        while (told.size() < 3) {
            try (CmEvent event = expect(CmEventType.DEVICE_REMOVAL)) {
                told.add(event.id());
            }
        }
        assertThat(told).containsExactlyInAnyOrder(server, client, request);
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
        assertNoDevice(client::disconnect);
    }

    @Test
    void waitingForARequestEnds() throws Exception {
        CmId server = listening(own(PortSpace.TCP), OWN);
        Future<?> waiting = begin(server::awaitRequest);
        fail(server);
        assertNoDevice(waiting);
        assertNoDevice(() -> server.pollRequest(Duration.ZERO));
        assertNoDevice(() -> server.pollRequest(LONG));
    }

    /** Its device was the only one that could bring a request, and is opened anew. */
    @Test
    void listenerAtAllAddressesOutlivesItsDevice() throws Exception {
        CmId other = closedAtEnd(CmId.create(PortSpace.TCP));
        other.device(kind + "_lo");
        other.bindAddress(anyPort(OWN));
        CmId server = closedAtEnd(CmId.create(PortSpace.TCP));
        server.device(kind + "_lo");
        server.bindAddress(new InetSocketAddress(0));
        server.listen(4);
        Future<?> waiting = begin(() -> closedAtEnd(server.awaitRequest()));
        fail(other);
        Wait.until("it listens on the device that was opened anew",
                () -> !server.listenAddresses().isEmpty());
        CmId client = own(PortSpace.TCP);
        client.resolveAddress(server.listenAddresses().getFirst(), TIMEOUT);
        client.resolveRoute(TIMEOUT);
        client.createQueuePair();
        Future<?> _ = begin(() -> client.connect(new ConnectionParameters()));
        waiting.get(20, TimeUnit.SECONDS);
    }

    @Test
    void lookingUpEnds() throws Exception {
        if (kind.equals("iwarp")) {
            // It has no datagrams, so nothing is looked up.
            return;
        }
        CmId server = listening(told(PortSpace.UDP), OWN);
        CmId client = routed(own(PortSpace.UDP), server);
        Future<?> asking = begin(() -> client.connect(new ConnectionParameters()));
        closedAtEnd(request());
        fail(server);
        assertNoDevice(asking);
    }

    @Test
    void waitingForCompletionsEnds() throws Exception {
        CmId server = listening(told(PortSpace.TCP), OWN);
        CmId client = routed(own(PortSpace.TCP), server);
        Future<?> connecting = begin(() -> client.connect(new ConnectionParameters()));
        CmId request = closedAtEnd(request());
        request.createQueuePair();
        request.accept();
        connecting.get(20, TimeUnit.SECONDS);
        client.queuePair().postReceive(new ReceiveWorkRequest().id(5));
        Future<WorkCompletion> waiting = threads.submit(client::awaitReceiveCompletion);
        fail(server);
        WorkCompletion flushed = waiting.get(20, TimeUnit.SECONDS);
        assertThat(flushed.id()).isEqualTo(5);
        assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        assertNoDevice(client::awaitReceiveCompletion);
        assertNoDevice(client::awaitSendCompletion);
        client.queuePair().postReceive(new ReceiveWorkRequest().id(6));
        assertThat(client.awaitReceiveCompletion().id()).isEqualTo(6);
        assertNoDevice(client::awaitReceiveCompletion);
        assertNoDevice(() -> client.protectionDomain().createQueuePair(
                new QueuePairInitAttributes()
                        .completionQueue(client.queuePair().sendCompletionQueue())));
    }

    /** Those who hold it have to close what they have; others do not wait for them. */
    @Test
    void itIsOpenedAnewWhileTheOldOneIsStillHeld() throws Exception {
        CmId old = listening(own(PortSpace.TCP), OWN);
        EngineDriver driver = fail(old);
        try (DeviceContext anew = RdmaDevices.find(kind + "_lo").open()) {
            assertThat(((SoftDeviceContext) anew).nic().driver()).isNotSameAs(driver);
        }
        CmId server = listening(told(PortSpace.TCP), OTHER);
        CmId client = routed(own(PortSpace.TCP), server);
        Future<?> connecting = begin(() -> client.connect(new ConnectionParameters()));
        CmId request = closedAtEnd(request());
        request.createQueuePair();
        request.accept();
        connecting.get(20, TimeUnit.SECONDS);
        old.close();
        Wait.until("the connection is established", () -> {
            try (CmEvent event = events.pollEvent(Duration.ZERO)) {
                return event != null && event.type() == CmEventType.ESTABLISHED;
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        });
    }
}
