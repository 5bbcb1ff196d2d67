// SPDX-License-Identifier: Apache-2.0
/**
 * How tools write output for programs, and how they report failures.
 *
 * <p>{@code Json} writes maps, lists, numbers and strings; {@code OneLine} describes a failure in one line. Knows only the
 * JDK.
 */
@NullMarked
package io.rdma4j.tools.output;

import org.jspecify.annotations.NullMarked;
