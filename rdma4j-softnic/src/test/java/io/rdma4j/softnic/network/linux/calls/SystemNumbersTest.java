// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import io.rdma4j.softnic.device.SecureNumbers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.util.HashSet;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Numbers that nobody can guess. */
class SystemNumbersTest {
    private static final int MANY = 1000;

    @Test
    @EnabledOnOs(OS.LINUX)
    void numbersOfTheSystemDiffer() {
        Set<Long> numbers = new HashSet<>();
        for (int i = 0; i < MANY; i++) {
            numbers.add(MemoryCalls.random());
        }
        assertThat(numbers).hasSize(MANY);
    }

    /** More than a batch; two of four billion may be the same by chance. */
    @Test
    void numbersOfADeviceDiffer() {
        SecureNumbers first = new SecureNumbers();
        SecureNumbers second = new SecureNumbers();
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < MANY; i++) {
            numbers.add(first.getAsInt());
            numbers.add(second.getAsInt());
        }
        assertThat(numbers).hasSizeGreaterThan(2 * MANY - 3);
    }
}
