// SPDX-License-Identifier: Apache-2.0
/**
 * A small service as users write it, over RDMA and over TCP: servers of several shapes, and client processes that start cold, all
 * at once. {@link io.rdma4j.benchmarks.service.ServiceCommand} is one process of it.
 */
@NullMarked
package io.rdma4j.benchmarks.service;

import org.jspecify.annotations.NullMarked;
