// SPDX-License-Identifier: Apache-2.0
/** Small complete programs, each showing one way to use RDMA. */
module io.rdma4j.examples {
    requires static org.jspecify;
    requires transitive io.rdma4j.api;
    requires io.rdma4j.softnic;

    exports io.rdma4j.examples;
    exports io.rdma4j.examples.course;
}
