// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@EnabledOnOs(OS.LINUX)
class CFunctionTest {
    private static final CFunction GETPID = CFunction.ofInt("getpid");
    private static final CFunction ABS = CFunction.ofInt("abs");
    private static final CFunction LABS = CFunction.ofLong("labs");
    private static final CFunction STRNLEN = CFunction.ofLong("strnlen");
    private static final CFunction SNPRINTF = CFunction.ofInt("snprintf");
    private static final CFunction CLOSE = CFunction.ofInt("close");
    private static final CFunction LSEEK = CFunction.ofLong("lseek");
    private static final CFunction MMAP = CFunction.ofLong("mmap");
    private static final int EBADF = 9;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;

    @Test
    void argumentsThatAFunctionDoesNotHaveAreIgnored() {
        assertThat(GETPID.call()).isEqualTo(ProcessHandle.current().pid());
        assertThat(GETPID.call(-1, -1, -1, -1)).isEqualTo(ProcessHandle.current().pid());
    }

    @Test
    void anIntIsTheLowerHalfOfAnArgumentAndOfAResult() {
        assertThat(ABS.call(-5)).isEqualTo(5);
        assertThat(ABS.call(0x7fff_ffff_0000_0007L)).isEqualTo(7);
        assertThat(ABS.call(Integer.MIN_VALUE)).isEqualTo(Integer.MIN_VALUE);
        assertThat(LABS.call(-0x1_0000_0005L)).isEqualTo(0x1_0000_0005L);
    }

    @Test
    void addressesAreNumbers() {
        try (Arena arena = Arena.ofConfined()) {
            assertThat(STRNLEN.call(CFunction.address(arena.allocateFrom("seven..")), 100))
                    .isEqualTo(7);
        }
    }

    @Test
    void aFunctionWithAVariableNumberOfParametersGetsThem() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(64);
            // As open, fcntl and ioctl.
            assertThat(SNPRINTF.call(CFunction.address(text), 64,
                    CFunction.address(arena.allocateFrom("%d")), -12)).isEqualTo(3);
            assertThat(text.getString(0)).isEqualTo("-12");
        }
    }

    @Test
    void sixParametersArrive() {
        try (Arena arena = Arena.ofConfined()) {
            ErrorNumber error = new ErrorNumber(arena);
            long at = MMAP.call(error, 0, 4096, 3, MAP_PRIVATE_ANONYMOUS, -1, 0);
            assertThat(at).isPositive();
            MemorySegment page = MemorySegment.ofAddress(at).reinterpret(4096);
            page.set(JAVA_BYTE, 4095, (byte) 1);
            assertThat(MemoryCalls.unmap(at, 4096)).isZero();
            // No offset inside a page: the sixth argument.
            assertThat(MMAP.call(error, 0, 4096, 3, MAP_PRIVATE_ANONYMOUS, -1, 1))
                    .isEqualTo(-LinuxCalls.EINVAL);
        }
    }

    @Test
    void aFailureIsMinusOneOrTheNegatedErrorNumber() {
        assertThat(CLOSE.call(-1)).isEqualTo(-1);
        assertThat(LSEEK.call(-1, 0, 0)).isEqualTo(-1);
        try (Arena arena = Arena.ofConfined()) {
            ErrorNumber error = new ErrorNumber(arena);
            assertThat(CLOSE.call(error, -1)).isEqualTo(-EBADF);
            assertThat(LSEEK.call(error, -1, 0, 0)).isEqualTo(-EBADF);
            assertThat(GETPID.call(error, 0)).isEqualTo(ProcessHandle.current().pid());
        }
    }

    @Test
    void theErrorNumberIsAllThatLinuxCaptures() {
        StructLayout state = Linker.Option.captureStateLayout();
        assertThat(state.byteOffset(PathElement.groupElement("errno")))
                .isEqualTo(ErrorNumber.ERRNO);
        assertThat(state.byteSize()).isEqualTo(JAVA_INT.byteSize());
    }

    @Test
    void aFunctionThatTheLibraryLacksIsALinkageError() {
        assertThatExceptionOfType(UnsatisfiedLinkError.class)
                .isThrownBy(() -> CFunction.ofInt("no_such_function"))
                .withMessage("the C library has no no_such_function");
    }
}
