// SPDX-License-Identifier: Apache-2.0
/**
 * Converts values of the API to structures of the C headers, and back. It calls no library and owns no memory.
 */
@NullMarked
package io.rdma4j.ibverbs.values;

import org.jspecify.annotations.NullMarked;
