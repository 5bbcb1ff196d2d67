// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

/** The kinds of objects that a device counts. */
public enum ObjectKind {
    /** {@code ibv_ah}. */
    ADDRESS_HANDLE("address handle"),
    /** {@code ibv_cq}. */
    COMPLETION_QUEUE("completion queue"),
    /** {@code ibv_dm}. */
    DEVICE_MEMORY("device memory"),
    /** {@code ibv_mr}. */
    MEMORY_REGION("memory region"),
    /** {@code ibv_mw}. */
    MEMORY_WINDOW("memory window"),
    /** A group of the system that queue pairs are members of. */
    MULTICAST_GROUP("multicast group"),
    /** A {@code ibv_pd} made of another. */
    PARENT_DOMAIN("parent domain"),
    /** {@code ibv_pd}. */
    PROTECTION_DOMAIN("protection domain"),
    /** {@code ibv_qp}. */
    QUEUE_PAIR("queue pair"),
    /** {@code ibv_srq}. */
    SHARED_RECEIVE_QUEUE("shared receive queue"),
    /** {@code ibv_td}. */
    THREAD_DOMAIN("thread domain"),
    /** {@code ibv_xrcd}. */
    XRC_DOMAIN("XRC domain");

    private final String text;

    ObjectKind(String text) {
        this.text = text;
    }

    /** {@return its name in messages} */
    String text() {
        return text;
    }
}
