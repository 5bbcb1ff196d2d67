// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * The state of a queue pair: what may be posted, and what it sends and receives. {@link QueuePair#modify} moves it
 * from one to the next; a queue pair of a {@code CmId} is moved by the connection manager.
 *
 * <p>C: {@code enum} {@index ibv_qp_state}. Source: IBTA 10.3.1, figure 124.
 *
 * @since 0.1.0
 */
public enum QueuePairState {
    /**
     * New, or reset: nothing may be posted, and nothing is sent or received. Going back to it discards what was posted.
     * Its completions that are in a completion queue by then are removed on a software device, as by the drivers of most
     * network adapters (mlx4, mlx5, hns, bnxt_re). Linux's rxe and siw leave them there, and only the ids of the requests tell
     * them from those of its next life: take them before the queue pair is used again.
     * Next: {@link #INIT}. C: {@index IBV_QPS_RESET}.
     */
    RESET(0),
    /**
     * Port and access rights are set. Receives may be posted; nothing is sent or received yet. Post the first receives
     * here, before the peer can send. Next: {@link #RTR}. C: {@index IBV_QPS_INIT}.
     */
    INIT(1),
    /**
     * Ready to receive: messages of the peer are received and answered; sends may not be posted. Next: {@link #RTS}. C:
     * {@index IBV_QPS_RTR}.
     */
    RTR(2),
    /** Ready to send, the normal state: sends and receives are executed. C: {@index IBV_QPS_RTS}. */
    RTS(3),
    /**
     * Send queue drained or draining: requests that have begun are finished, and no new one begins; receiving continues.
     * Some attributes may be changed here. Go back to {@link #RTS} to continue. C: {@index IBV_QPS_SQD}.
     */
    SQD(4),
    /**
     * A send of a UC or UD queue pair failed. The sends behind it are flushed; receiving continues. Go back to
     * {@link #RTS} to send again. C: {@index IBV_QPS_SQE}.
     */
    SQE(5),
    /**
     * Failed, or moved here by the program: all requests, also those posted now, complete with
     * {@link WorkCompletionStatus#WORK_REQUEST_FLUSHED}. Poll them, then close the queue pair or go to {@link #RESET}. C:
     * {@index IBV_QPS_ERR}.
     */
    ERR(6);

    private final int code;

    QueuePairState(int code) {
        this.code = code;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }

    /**
     * {@return the state of a number of verbs.h, or null}
     *
     * @param code as in the C headers
     */
    public static @Nullable QueuePairState ofCode(int code) {
        for (QueuePairState each : VALUES) {
            if (each.code == code) {
                return each;
            }
        }
        return null;
    }

    private static final QueuePairState[] VALUES = values();
}
