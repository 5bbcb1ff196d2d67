// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.examples.TwoSides;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.stream.IntStream;

import static io.rdma4j.examples.course.CourseTest.printed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** The small programs beside the lessons, and lessons over IPv6. */
class BesideTheLessonsTest {
    private static final String ADDRESS = TwoSides.ownLoopbackAddress().getHostAddress();

    @Test
    void extendedQueuesTakeABatchAndGiveTimeStamps() throws Exception {
        assertThat(printed(ExtendedQueues::main).lines())
                .filteredOn(line -> line.startsWith("completion"))
                .containsExactlyInAnyOrder(
                        "completion of 1: RDMA_WRITE SUCCESS, time stamp later",
                        "completion of 2: SEND SUCCESS, time stamp later",
                        "completion of 3: RECEIVE SUCCESS, time stamp later");
    }

    @Test
    void eachConnectionHasAVirtualThread() throws Exception {
        assertThat(printed(() -> VirtualThreads.main(ADDRESS)).lines()).containsExactly(
                IntStream.rangeClosed(1, 16).mapToObj(i -> "client " + i).toArray(String[]::new));
    }

    @Test
    void lessonsRunOverIpv6() throws Exception {
        assumeThat(hasIpv6()).as("IPv6 on loopback").isTrue();
        assertThat(printed(() -> Lesson03.main("::1"))).contains("server: received hello RDMA");
        assertThat(printed(() -> Lesson05.main("::1"))).contains("immediate 0xcafe");
    }

    private static boolean hasIpv6() throws Exception {
        return NetworkInterface.getByInetAddress(InetAddress.ofLiteral("::1")) != null;
    }
}
