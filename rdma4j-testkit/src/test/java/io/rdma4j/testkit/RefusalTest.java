// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/** A device that refuses is found out: what its profile requires fails, and only the rest is not supported. */
class RefusalTest {
    private static final String OMITTED = "AddressHandleConformance#roceRefusesAPathWithoutGlobalRoute";
    private static final String OPTIONAL = "OnDemandPagingConformance#messagesTravel";
    /** Which profile the classes below have; they are run one after the other. */
    private static ConformanceProfile profile = ConformanceProfile.SOFTWARE_ROCE;

    interface Refusing extends DeviceUnderTest {
        @Override
        default ConformanceRun run() {
            return new ConformanceRun("refusing", "nowhere", profile,
                    ConformanceSuite.deviceClasses());
        }

        @Override
        default RdmaDevice device() {
            return new RefusingDevice(profile.transport());
        }

        @Override
        default InetAddress connectionAddress() throws RdmaException {
            throw RdmaException.unsupported("connect", "this device has no address");
        }

        @Override
        default InetAddress multicastAddress() {
            return InetAddress.ofLiteral("239.192.13.7");
        }
    }

    static final class Device extends DeviceConformance implements Refusing {}

    static final class ProtectionDomain extends ProtectionDomainConformance implements Refusing {}

    static final class CompletionQueue extends CompletionQueueConformance implements Refusing {}

    static final class CompletionEvent extends CompletionEventConformance implements Refusing {}

    static final class ExtendedCompletionQueue extends ExtendedCompletionQueueConformance
            implements
                Refusing {}

    static final class AddressHandle extends AddressHandleConformance implements Refusing {}

    static final class MemoryRegion extends MemoryRegionConformance implements Refusing {}

    static final class QueuePair extends QueuePairConformance implements Refusing {}

    static final class ExtendedQueuePair extends ExtendedQueuePairConformance implements Refusing {}

    static final class Atomic extends AtomicConformance implements Refusing {}

    static final class SharedReceiveQueue extends SharedReceiveQueueConformance
            implements
                Refusing {}

    static final class ParentDomain extends ParentDomainConformance implements Refusing {}

    static final class RelaxedOrdering extends RelaxedOrderingConformance implements Refusing {}

    static final class IbConnectionManager extends ConnectionManagerConformance
            implements
                Refusing {}

    static final class CallOrder extends CallOrderConformance implements Refusing {}

    static final class Fork extends ForkConformance implements Refusing {}

    static final class OnDemandPaging extends OnDemandPagingConformance implements Refusing {}

    static final class Timestamp extends TimestampConformance implements Refusing {}

    static final class EveryObject extends ObjectsConformance implements Refusing {}

    static final class Zero extends ZeroConformance implements Refusing {}

    static final class Fault extends FaultConformance {
        @Override
        public ConformanceRun run() {
            return new ConformanceRun("refusing", "nowhere", profile,
                    ConformanceSuite.faultClasses());
        }

        @Override
        protected FaultyWire wire() throws RdmaException {
            throw RdmaException.unsupported("fail", "this wire never does");
        }
    }

    private static final List<Class<?>> CLASSES = List.of(Device.class, ProtectionDomain.class,
            CompletionQueue.class, CompletionEvent.class, ExtendedCompletionQueue.class,
            AddressHandle.class, MemoryRegion.class, QueuePair.class, ExtendedQueuePair.class,
            Atomic.class, SharedReceiveQueue.class, ParentDomain.class, RelaxedOrdering.class,
            IbConnectionManager.class, CallOrder.class, Fork.class, OnDemandPaging.class,
            Timestamp.class,
            EveryObject.class, Zero.class, Fault.class);

    /** Cases under names that the table has, refused because of the device's attributes, which is no excuse for a required one. */
    static final class Omitting {
        static final class AddressHandleConformance extends Conformance implements Refusing {
            @ConformanceCase
            void roceRefusesAPathWithoutGlobalRoute() {
                assumeOffered(false, "there is none");
            }
        }

        static final class OnDemandPagingConformance extends Conformance implements Refusing {
            @ConformanceCase
            void messagesTravel() {
                assumeOffered(false, "there is none");
            }
        }
    }

    /** Runs classes with a profile. {@return how each test ended, by class and method} */
    private static Map<String, TestExecutionResult> run(ConformanceProfile wanted,
            List<Class<?>> classes) {
        profile = wanted;
        Map<String, TestExecutionResult> results = new HashMap<>();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(classes.stream().map(DiscoverySelectors::selectClass).toList()).build();
        LauncherFactory.create().execute(request, new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                test.getSource().filter(MethodSource.class::isInstance)
                        .map(MethodSource.class::cast)
                        .ifPresent(source -> results.put(ConformanceEntry
                                .nameOf(source.getJavaMethod()), result));
            }
        });
        return results;
    }

    private static Status status(Map<String, TestExecutionResult> results, String test) {
        return Objects.requireNonNull(results.get(test), test).getStatus();
    }

    @ParameterizedTest
    @EnumSource
    void deviceThatRefusesEverythingFailsWhatIsRequired(ConformanceProfile each) {
        Map<String, TestExecutionResult> results = run(each, CLASSES);
        for (ConformanceEntry entry : ConformanceSuite.entries()) {
            assertThat(status(results, entry.test())).as(entry.test())
                    .isEqualTo(each.requires(entry.test())
                            ? Status.FAILED
                            : Status.ABORTED);
        }
    }

    @Test
    void failureNamesTheProfileTheCaseAndTheRefusal() {
        Map<String, TestExecutionResult> results = run(ConformanceProfile.SOFTWARE_IWARP,
                List.of(ProtectionDomain.class));
        assertThat(results.get("ProtectionDomainConformance#domainBelongsToItsDevice"))
                .extracting(each -> each.getThrowable().orElseThrow().getMessage(),
                        InstanceOfAssertFactories.STRING)
                .contains("software-iwarp", "ProtectionDomainConformance#domainBelongsToItsDevice",
                        "refuses everything");
    }

    @Test
    void attributeThatSaysNoFailsOnlyWhatIsRequired() {
        List<Class<?>> omitting = List.of(Omitting.AddressHandleConformance.class,
                Omitting.OnDemandPagingConformance.class);
        Map<String, TestExecutionResult> roce = run(ConformanceProfile.SOFTWARE_ROCE, omitting);
        assertThat(status(roce, OMITTED)).isEqualTo(Status.FAILED);
        assertThat(status(roce, OPTIONAL)).isEqualTo(Status.ABORTED);
        Map<String, TestExecutionResult> other = run(ConformanceProfile.NATIVE, omitting);
        assertThat(status(other, OMITTED)).isEqualTo(Status.ABORTED);
    }
}
