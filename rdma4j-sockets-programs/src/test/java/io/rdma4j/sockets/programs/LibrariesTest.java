// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Programs with libraries of others, by one variable: their bytes go over RDMA, and they have no socket of TCP. */
class LibrariesTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "NettyProgram; https /over/rdma; 16500000", "JettyProgram; 20 files; 6000000",
        "GrpcProgram; 200 echoes; 8000000",
        "HazelcastProgram; 2 members, 200 entries; 2000000"})
    void programGoesOverRdmaByOneVariable(String program, String said, long bytes)
            throws Exception {
        ForkedJvm.Result result = ForkedJvm.byOneVariable(ForkedJvm.jar(directory, true), "rdma",
                List.of(), Observed.class.getName(),
                getClass().getPackageName() + "." + program);
        assertThat(result.output()).contains(said);
        assertThat(result.number("RDMA bytes")).isGreaterThan(bytes);
        assertThat(result.number("TCP connections")).as(result.output()).isZero();
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = "JGroupsProgram; 2 members, all messages; 2000000")
    void programGoesOverRdmaByAProviderOfItsOwn(String program, String said, long bytes)
            throws Exception {
        ForkedJvm.Result result = ForkedJvm.plain(Observed.class.getName(),
                getClass().getPackageName() + "." + program);
        assertThat(result.output()).contains(said);
        assertThat(result.number("RDMA bytes")).isGreaterThan(bytes);
        assertThat(result.number("TCP connections")).as(result.output()).isZero();
    }
}
