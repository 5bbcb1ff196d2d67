// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

/** The steps that cmtime measures. */
enum CmtimeStep {
    CREATE_ID("create id"),
    BIND("bind addr"),
    RESOLVE_ADDRESS("resolve addr"),
    RESOLVE_ROUTE(
            "resolve route"),
    CREATE_QUEUE_PAIR("create qp"),
    CONNECT("connect"),
    DISCONNECT(
            "disconnect"),
    DESTROY("destroy");

    private final String text;

    CmtimeStep(String text) {
        this.text = text;
    }

    /** {@return its name in the table} */
    String text() {
        return text;
    }
}
