// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit.junit;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Tests of a program that uses RDMA, on the software devices of the loopback interface: of a class, or of one method.
 *
 * <p>Parameters of test, {@code BeforeEach} and {@code AfterEach} methods of these types are given:
 * <ul>
 * <li>{@link io.rdma4j.verbs.RdmaDevice}, the device;
 * <li>{@link io.rdma4j.verbs.DeviceContext}, the device, open; the same one for all parameters of a test;
 * <li>{@link java.net.InetSocketAddress}, where a listener of the test can be bound: an address of the device, and port 0 for any
 * free one;
 * <li>{@link ConnectedIds}, two connected ids, each with a queue pair;
 * <li>{@link java.lang.foreign.Arena}, a shared one.
 * </ul>
 * What was given is closed after the test. A test fails if it leaves anything open: of what was made from the context the failure says
 * what, of ids and contexts that the test has opened itself, which device is still open (not with {@code -Drdma4j.jmx=false}).
 * Everything is closed then, as far as it was given, so that the next test begins with nothing.
 *
 * <p>Tests with this annotation do not run at the same time, since they set system properties; other tests that open devices must not
 * run beside them.
 *
 * @since 0.1.0
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(RdmaExtension.class)
@ResourceLock(Resources.SYSTEM_PROPERTIES)
public @interface RdmaTest {
    /**
     * {@return the device: its name, or the part before {@code _}, as {@code iwarp}} Ids of the test use it, too
     * ({@code rdma4j.device}).
     */
    String device() default "roce";

    /**
     * {@return what the network does to what the test sends, such as {@code loss=5%,seed=7}, as {@code rdma4j.impair} says it; empty
     * for nothing}
     */
    String impairment() default "";

    /**
     * {@return whether the packets of each test are recorded, for Wireshark} Of a test that fails the file is kept, in the folder
     * that the configuration parameter {@code rdma4j.recordings} of JUnit names, {@code target/rdma4j-recordings} without it,
     * and reported.
     */
    boolean record() default false;
}
