// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import org.junit.jupiter.api.Test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A test that is one case of the suite. {@link ConformanceProfile} defines which devices must pass it. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Test
public @interface ConformanceCase {
    /**
     * The test of rdma-core or roce-sim that had the idea, such as {@code test_mr.mr_rereg_access}. The case is no copy of it:
     * it may want less, or more. Empty for what is of rdma4j alone.
     */
    String after() default "";
}
