// SPDX-License-Identifier: Apache-2.0
/**
 * What the objects of an open native device need of it: the library's calls, its lock, its events and its queries. Start reading at
 * {@link io.rdma4j.ibverbs.device.ContextServices}. It knows none of these objects; the device's thread reaches them by interfaces such as
 * {@link io.rdma4j.ibverbs.device.AsyncEventTarget}.
 */
@NullMarked
package io.rdma4j.ibverbs.device;

import org.jspecify.annotations.NullMarked;
