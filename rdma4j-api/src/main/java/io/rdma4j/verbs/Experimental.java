// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * May change or go in any version, because it has not been tried enough: what only drivers of hardware do and no such hardware
 * has been tried with, and what is new. Everything else in {@code io.rdma4j.verbs}, {@code io.rdma4j.connection} and
 * {@code io.rdma4j.cm} changes by the rules of semantic versioning.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.METHOD, ElementType.FIELD, ElementType.CONSTRUCTOR})
public @interface Experimental {
}
