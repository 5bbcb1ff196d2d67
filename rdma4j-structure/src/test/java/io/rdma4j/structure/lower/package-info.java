// SPDX-License-Identifier: Apache-2.0
/** For the tests of the measurements. */
@NullMarked
package io.rdma4j.structure.lower;

import org.jspecify.annotations.NullMarked;
