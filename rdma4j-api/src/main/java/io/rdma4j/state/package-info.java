// SPDX-License-Identifier: Apache-2.0
/** State machines as data: {@link io.rdma4j.state.Transitions}, for ids, connections and queue pairs of any device. */
@NullMarked
package io.rdma4j.state;

import org.jspecify.annotations.NullMarked;
