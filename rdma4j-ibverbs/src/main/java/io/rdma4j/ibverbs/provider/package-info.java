// SPDX-License-Identifier: Apache-2.0
/**
 * Lists the native devices. On a machine without any it loads no library.
 */
@NullMarked
package io.rdma4j.ibverbs.provider;

import org.jspecify.annotations.NullMarked;
