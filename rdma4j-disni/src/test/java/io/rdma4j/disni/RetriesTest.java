// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RetriesTest {
    @AfterEach
    void clear() {
        System.clearProperty(Retries.PROPERTY);
    }

    @Test
    void noneBecomesAsManyAsThereCanBe() {
        assertThat(Retries.ofProperty().of(0)).isEqualTo(7);
        assertThat(Retries.ofProperty().of(3)).isEqualTo(3);
        assertThat(Retries.ofProperty().of(200)).isEqualTo(7);
    }

    @Test
    void programIsTakenAtItsWordIfThePropertySaysSo() {
        System.setProperty(Retries.PROPERTY, "exact");
        assertThat(Retries.ofProperty().of(0)).isZero();
        assertThat(Retries.ofProperty().of(7)).isEqualTo(7);
    }

    @Test
    void propertyHasTwoValues() {
        System.setProperty(Retries.PROPERTY, "many");
        assertThatIllegalArgumentException().isThrownBy(Retries::ofProperty)
                .withMessage("rdma4j.disni.retries is raised or exact, not 'many'");
    }
}
