// SPDX-License-Identifier: Apache-2.0
/**
 * Finds out why native devices are missing, or what they cannot do here, and says what to do about it.
 *
 * <p>A {@link io.rdma4j.ibverbs.diagnosis.Diagnosis} reads files of the kernel. It loads no library and makes no native
 * call; callers pass in what only a library knows. All paths are relative to a root, so that a test can set up a machine
 * in a directory. Start reading at {@code Diagnosis}.
 */
@NullMarked
package io.rdma4j.ibverbs.diagnosis;

import org.jspecify.annotations.NullMarked;
