/**
 * How tools write for programs.
 *
 * <p>{@code Json} makes text of maps, lists, numbers and words. Knows the JDK alone.
 */
@NullMarked
package io.rdma4j.tools.output;

import org.jspecify.annotations.NullMarked;
