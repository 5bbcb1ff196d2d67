// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.connection;

import org.jspecify.annotations.Nullable;

/**
 * How the peer answered the look-up of a datagram service: the values of InfiniBand and RoCE.
 *
 * <p>C: {@code enum} {@index ib_cm_sidr_status}. Source: IBTA 12.11.2.2, table 117.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum SidrStatus implements NumberedText {
    /** Found: queue pair number and Q_Key of the answer are valid. C: {@index IB_SIDR_SUCCESS}. */
    VALID(0, "valid"),
    /** No program offers the service. Check address and port. C: {@index IB_SIDR_UNSUPPORTED}. */
    UNSUPPORTED(1,
            "service ID not supported: no process offers it at that port of that address"),
    /** The application of the service rejected the look-up. C: {@index IB_SIDR_REJECT}. */
    REJECTED(2, "rejected by the service"),
    /** The service has no queue pair left. Try again later. C: {@index IB_SIDR_NO_QP}. */
    NO_QP(3, "no QP available"),
    /** The service is at another address. C: {@index IB_SIDR_REDIRECT}. */
    REDIRECT(4, "request redirected"),
    /** The version of the request is not supported. C: {@index IB_SIDR_UNSUPPORTED_VERSION}. */
    UNSUPPORTED_VERSION(5, "unsupported version");

    private final int code;
    private final String text;

    SidrStatus(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** {@return the number on the wire} */
    @Override
    public int code() {
        return code;
    }

    /** {@return the status in words} */
    @Override
    public String text() {
        return text;
    }

    /**
     * {@return the status of that code, or null if none has it}
     *
     * @param code as the message has it
     */
    public static @Nullable SidrStatus ofCode(int code) {
        return NumberedText.ofCode(values(), code);
    }

    /**
     * {@return a code in words, also one that is not known}
     *
     * @param code as the message has it
     */
    public static String text(int code) {
        return NumberedText.text(values(), code, "unknown status");
    }
}
