// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;

/** Atomic operations on the peer's memory. */
public abstract class AtomicConformance extends Conformance {
    /** Called by subclasses. */
    protected AtomicConformance() {}

    private static PlayerSettings settings() {
        return new PlayerSettings()
                .regionAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC)
                .queuePairAccess(AccessFlag.REMOTE_ATOMIC);
    }

    private static Work add(Players players) {
        return players.client.work(SendOpcode.ATOMIC_FETCH_AND_ADD, 8).atomic(2, 0);
    }

    @ConformanceCase(after = "test_atomic.atomic_cmp_and_swap")
    void swapsOnlyWhatIsEqual() throws RdmaException {
        Players players = players(settings());
        players.atomics(SendOpcode.ATOMIC_COMPARE_AND_SWAP, 1, 2);
        players.atomics(SendOpcode.ATOMIC_COMPARE_AND_SWAP, 1, 1);
    }

    @ConformanceCase(after = "test_atomic.atomic_fetch_and_add")
    void addsAndGivesBackTheOldValue() throws RdmaException {
        Players players = players(settings());
        players.atomics(SendOpcode.ATOMIC_FETCH_AND_ADD, 1, 2);
        players.atomics(SendOpcode.ATOMIC_FETCH_AND_ADD, -1, 2);
    }

    @ConformanceCase(after = "test_atomic.atomic_invalid_qp_access")
    void queuePairWithoutTheRightRefuses() throws RdmaException {
        Players players = players(settings().queuePairAccess(AccessFlag.REMOTE_WRITE));
        // A queue pair without atomics may report an invalid request.
        players.assertFailsWithoutTrace(add(players), WorkCompletionStatus.REMOTE_ACCESS_ERROR,
                WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    @ConformanceCase(after = "test_atomic.atomic_invalid_mr_access")
    void regionWithoutTheRightRefuses() throws RdmaException {
        Players players = players(settings().regionAccess(AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
        players.assertAccessRefused(add(players));
    }

    @ConformanceCase(after = "test_atomic.atomic_non_aligned_addr")
    void addressThatIsNotAlignedIsRefused() throws RdmaException {
        Players players = players(settings());
        Work work = add(players);
        Work crooked = work.remoteAddress(work.remoteAddress() + 1);
        // Either this side refuses the request when it is posted, or the peer.
        try {
            players.assertFailsWithoutTrace(crooked,
                    WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        } catch (RdmaException refusal) {
            if (refusal.errno() != Errno.EINVAL) {
                throw refusal;
            }
        }
    }

    @ConformanceCase(after = "test_atomic.atomic_invalid_lkey")
    void wrongLocalKeyIsALocalProtectionError() throws RdmaException {
        Players players = players(settings());
        players.assertEnds(add(players).lkey(players.client.region.lkey() + 1),
                WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    @ConformanceCase(after = "test_atomic.atomic_invalid_rkey")
    void wrongRemoteKeyIsARemoteAccessError() throws RdmaException {
        Players players = players(settings());
        players.assertAccessRefused(add(players).rkey(players.server.region.rkey() + 1));
    }
}
