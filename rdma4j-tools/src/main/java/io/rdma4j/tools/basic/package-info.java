// SPDX-License-Identifier: Apache-2.0
/**
 * The classic pair as commands: the example programs {@code BasicServer} and {@code BasicClient}.
 *
 * <p>Knows only the examples, the API and the shared parts of the tools.
 */
@NullMarked
package io.rdma4j.tools.basic;

import org.jspecify.annotations.NullMarked;
