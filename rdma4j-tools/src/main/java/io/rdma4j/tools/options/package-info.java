// SPDX-License-Identifier: Apache-2.0
/**
 * Options that several tools have, and checks of their values.
 *
 * <p>{@code SideOptions}, {@code Patience} and {@code DeviceName} are mixins of options, {@code WholeNumber} and
 * {@code Hosts} parse values, {@code Refusal} reports a wrong argument. Knows only the API and the library for command
 * lines, and no tool.
 */
@NullMarked
package io.rdma4j.tools.options;

import org.jspecify.annotations.NullMarked;
