package io.rdma4j.testkit;

import org.junit.jupiter.api.Test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A test that is one case of the suite, with the name of its original. {@link ConformanceProfile} defines
 * which devices must pass it.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Test
public @interface ConformanceCase {
    /** The file it comes from, such as {@code test_mr}. */
    String file();

    /** Its name there, without a leading {@code test_}. */
    String name();
}
