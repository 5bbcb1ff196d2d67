// SPDX-License-Identifier: Apache-2.0
/**
 * How a JVM that is started with {@code -javaagent:rdma4j-disni.jar} gets the classes that take the place of DiSNI's, so that its
 * program needs neither another option nor a change. Start reading at {@link io.rdma4j.disni.launch.Agent}.
 */
@NullMarked
package io.rdma4j.disni.launch;

import org.jspecify.annotations.NullMarked;
