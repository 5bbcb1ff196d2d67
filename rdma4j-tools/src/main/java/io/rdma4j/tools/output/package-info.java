/**
 * How tools write for programs, and of failures.
 *
 * <p>{@code Json} makes text of maps, lists, numbers and words; {@code OneLine} says what failed. Knows the JDK alone.
 */
@NullMarked
package io.rdma4j.tools.output;

import org.jspecify.annotations.NullMarked;
