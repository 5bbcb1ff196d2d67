// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

/**
 * The kinds of a device's objects, which it counts and closes: in the order in which {@link OwnedObjects} closes them, each before
 * what it may depend on.
 */
public enum ObjectKind {
    /** {@code ibv_mw}. Before the queue pairs that they are bound by, and the regions that they are bound to. */
    MEMORY_WINDOW("memory window"),
    /** {@code ibv_flow}, which feeds a queue pair. */
    FLOW("flow"),
    /** A group of the system that queue pairs are members of. All memberships of one queue pair are closed as one. */
    MULTICAST_GROUP("multicast group"),
    /** {@code ibv_qp}. */
    QUEUE_PAIR("queue pair"),
    /** {@code ibv_srq}. After the queue pairs that take from it. */
    SHARED_RECEIVE_QUEUE("shared receive queue"),
    /** {@code ibv_ah}. */
    ADDRESS_HANDLE("address handle"),
    /** {@code ibv_mr}. After the windows that are bound to it. */
    MEMORY_REGION("memory region"),
    /** {@code ibv_dm}. After its regions. */
    DEVICE_MEMORY("device memory"),
    /** {@code ibv_cq}. After the queue pairs that complete there. */
    COMPLETION_QUEUE("completion queue"),
    /** {@code ibv_xrcd}. After its queue pairs and shared receive queues. */
    XRC_DOMAIN("XRC domain"),
    /** A {@code ibv_pd} made of another, which counts it by this kind. It is closed as a protection domain. */
    PARENT_DOMAIN("parent domain"),
    /** {@code ibv_pd}. After all that was made in it, queues among it; a parent domain of another one before that. */
    PROTECTION_DOMAIN("protection domain"),
    /** {@code ibv_td}. After the parent domains that have it. */
    THREAD_DOMAIN("thread domain");

    private final String text;

    ObjectKind(String text) {
        this.text = text;
    }

    /** {@return its name in messages} */
    public String text() {
        return text;
    }
}
