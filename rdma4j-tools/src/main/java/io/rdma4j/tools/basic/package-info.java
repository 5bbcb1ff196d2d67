/**
 * The classic pair as commands: the example programs {@code BasicServer} and {@code BasicClient}.
 *
 * <p>Knows the examples and the API alone.
 */
@NullMarked
package io.rdma4j.tools.basic;

import org.jspecify.annotations.NullMarked;
