// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.diagnosis;

/** How severe a finding is. */
public enum Level {
    /** No native device can be used, or not the one that is named. */
    OBSTACLE,
    /** Devices can be used, but not for everything. */
    RESTRICTION
}
