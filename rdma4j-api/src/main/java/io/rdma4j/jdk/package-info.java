// SPDX-License-Identifier: Apache-2.0
/**
 * The JDK's own channels, whatever provider of channels the JVM has.
 *
 * <p>This is not part of the interface for programs. It is below everything else and knows only the JDK. Start reading at {@link
 * io.rdma4j.jdk.JdkProvider}.
 */
@NullMarked
package io.rdma4j.jdk;

import org.jspecify.annotations.NullMarked;
