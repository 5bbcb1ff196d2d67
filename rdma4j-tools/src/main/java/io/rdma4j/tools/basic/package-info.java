// SPDX-License-Identifier: Apache-2.0
/**
 * Commands that run examples: the classic pair {@code BasicServer} and {@code BasicClient}, and the lessons of the course.
 *
 * <p>Knows only the examples, the API and the shared parts of the tools.
 */
@NullMarked
package io.rdma4j.tools.basic;

import org.jspecify.annotations.NullMarked;
