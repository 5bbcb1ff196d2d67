/**
 * Options that several tools have, and what several tools ask of their values.
 *
 * <p>{@code SideOptions}, {@code Patience} and {@code DeviceName} are options to mix in, {@code WholeNumber} and {@code Hosts} read values,
 * {@code Refusal} says no. Knows the API and the command line's library alone, no tool.
 */
@NullMarked
package io.rdma4j.tools.options;

import org.jspecify.annotations.NullMarked;
