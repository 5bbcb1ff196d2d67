// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.endpoint;

import io.rdma4j.cm.OtherDeviceException;

import java.io.IOException;

/**
 * A client's way to its server, taken twice if the first device finds nobody there and another one sees a listener. That
 * happens only to a client that names no device.
 */
public final class Establishment {
    private boolean isReached;

    private Establishment() {}

    /**
     * What a client does, from its first step on.
     *
     * @param <T> what becomes of it
     */
    public interface Attempt<T> {
        /**
         * Makes the client's ids and takes their steps. Closes them if that fails.
         *
         * @param reached to be called once the server is connected, if more is done then: what fails later is not tried
         *        again
         */
        T make(Runnable reached) throws IOException;
    }

    /**
     * {@return what becomes of an attempt, or of a second one if the first fails in that way}
     *
     * @throws IOException as the attempt; if the second one does not reach the server either, as the first
     */
    public static <T> T of(Attempt<T> attempt) throws IOException {
        try {
            return attempt.make(() -> {});
        } catch (IOException first) {
            if (!isServedByOther(first)) {
                throw first;
            }
            return new Establishment().again(attempt, first);
        }
    }

    private <T> T again(Attempt<T> attempt, IOException first) throws IOException {
        try {
            return attempt.make(() -> isReached = true);
        } catch (IOException second) {
            if (isReached) {
                throw second;
            }
            first.addSuppressed(second);
            throw first;
        }
    }

    private static boolean isServedByOther(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof OtherDeviceException
                || (cause != null && isServedByOther(cause));
    }
}
