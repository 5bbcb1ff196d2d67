// SPDX-License-Identifier: Apache-2.0
/**
 * XRC domains of native devices, and the queue pairs that receive in them. Start reading at {@link
 * io.rdma4j.ibverbs.xrc.NativeXrcDomain}.
 */
@NullMarked
package io.rdma4j.ibverbs.xrc;

import org.jspecify.annotations.NullMarked;
