package io.rdma4j.testkit;

import org.junit.jupiter.api.Test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A test that is one case of the suite, named as where it comes from names it. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Test
public @interface ConformanceCase {
    /** The file it comes from, such as {@code test_mr}. */
    String file();

    /** Its name there, without a leading {@code test_}. */
    String name();

    /** Whether every device must pass it. */
    Kind kind() default Kind.REQUIRED;

    /** Who must pass a case. */
    enum Kind {
        /** Every device of the kind that the suite is for. */
        REQUIRED("required"),
        /** Devices whose attributes say that they can. */
        OPTIONAL("optional"),
        /** Every device with reliable connections whose wire a test can disturb. */
        FAULT("faults");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        /** {@return the word the report uses} */
        public String text() {
            return text;
        }
    }
}
