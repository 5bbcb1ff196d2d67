// SPDX-License-Identifier: Apache-2.0
/** What the tests of each module measure of its packages: {@link io.rdma4j.structure.ModuleStructure}. */
@NullMarked
package io.rdma4j.structure;

import org.jspecify.annotations.NullMarked;
