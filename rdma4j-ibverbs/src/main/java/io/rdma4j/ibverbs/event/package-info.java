// SPDX-License-Identifier: Apache-2.0
/**
 * Waits for the file descriptors by which the libraries report events. Knows no object of the verbs and no connection.
 */
@NullMarked
package io.rdma4j.ibverbs.event;

import org.jspecify.annotations.NullMarked;
