// SPDX-License-Identifier: Apache-2.0
/**
 * What the tests of each module measure of its packages. Read first: {@link io.rdma4j.structure.StructureContract}, the tests, and
 * {@link io.rdma4j.structure.ModuleStructure}, what they measure.
 */
@NullMarked
package io.rdma4j.structure;

import org.jspecify.annotations.NullMarked;
