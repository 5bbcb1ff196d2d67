// SPDX-License-Identifier: Apache-2.0
/**
 * The verbs' objects of native devices. Each owns one object of libibverbs, and passes calls to it only while that object
 * exists. Only {@code NativeContext} and {@code ConnectionManager} know the package {@code io.rdma4j.ibverbs.cm}; the
 * others know connections by the interfaces of {@code io.rdma4j.spi}. What objects need of the open device, of their domain and of
 * their queue pair are {@code ContextServices}, {@code DomainServices} and {@code QueuePairServices}, which know none of these objects.
 */
@NullMarked
package io.rdma4j.ibverbs.verbs;

import org.jspecify.annotations.NullMarked;
