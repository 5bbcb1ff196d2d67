// SPDX-License-Identifier: Apache-2.0
/**
 * The command line of rdma4j.
 *
 * <p>Read first: {@code Main}, which has the commands, {@code devices.IbvDevices}, the shortest one, and {@code endpoint}, by which tools
 * connect.
 */
module io.rdma4j.tools {
    requires static org.jspecify;
    requires io.rdma4j.api;
    requires io.rdma4j.examples;
    requires io.rdma4j.sockets;
    requires io.rdma4j.softnic;
    requires info.picocli;
    requires HdrHistogram;
    requires java.management;
    requires java.management.rmi;
    requires jdk.attach;
    requires jdk.net;

    opens io.rdma4j.tools to info.picocli;
    opens io.rdma4j.tools.basic to info.picocli;
    opens io.rdma4j.tools.cmtools to info.picocli;
    opens io.rdma4j.tools.demo to info.picocli;
    opens io.rdma4j.tools.devices to info.picocli;
    opens io.rdma4j.tools.doctor to info.picocli;
    opens io.rdma4j.tools.options to info.picocli;
    opens io.rdma4j.tools.perftest to info.picocli;
    opens io.rdma4j.tools.pingpong to info.picocli;
    opens io.rdma4j.tools.rping to info.picocli;
    opens io.rdma4j.tools.rsocket to info.picocli;
    opens io.rdma4j.tools.stat to info.picocli;
}
