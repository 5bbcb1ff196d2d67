/**
 * Why there are no native devices, or what they cannot do here, in sentences that say what to do.
 *
 * <p>A {@link io.rdma4j.ibverbs.diagnosis.Diagnosis} judges what the kernel tells in files. Loads no library and calls no
 * system: what only a library tells is handed in. All paths begin at a root, so that a test builds a machine in a
 * directory. Start reading at {@code Diagnosis}.
 */
@NullMarked
package io.rdma4j.ibverbs.diagnosis;

import org.jspecify.annotations.NullMarked;
