// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Attributes of a queue pair, with the knowledge of which are set.
 *
 * <p>C: {@code struct} {@index ibv_qp_attr} together with its {@code attr_mask}. A mutable object of the
 * caller: a setter sets the value and its mark; {@link #isSet} tells the mark; an accessor of an
 * attribute that is not set throws {@link IllegalStateException}. A value out of its range is an
 * {@link IllegalArgumentException} at once.
 *
 * @since 0.1.0
 */
public final class QueuePairAttributes {
    private final Set<QueuePairAttribute> set = EnumSet.noneOf(QueuePairAttribute.class);
    private @Nullable QueuePairState state;
    private @Nullable QueuePairState currentState;
    private boolean enableSqdAsyncNotify;
    private Set<AccessFlag> accessFlags = Set.of();
    private int pkeyIndex;
    private int port;
    private int qkey;
    private @Nullable AddressHandleAttributes addressVector;
    private @Nullable Mtu pathMtu;
    private int timeout;
    private int retryCount;
    private int rnrRetry;
    private int receivePsn;
    private int maxReadAtomic;
    private @Nullable AddressHandleAttributes alternatePath;
    private int minRnrTimer;
    private int sendPsn;
    private int maxDestinationReadAtomic;
    private @Nullable PathMigrationState pathMigrationState;
    private @Nullable QueuePairCapabilities capabilities;
    private int destinationQueuePair;
    private int rateLimitKbps;

    /** Creates attributes of which none is set. */
    public QueuePairAttributes() {}

    /** {@return which attributes are set; a view} */
    public Set<QueuePairAttribute> mask() {
        return Collections.unmodifiableSet(set);
    }

    /**
     * {@return whether an attribute is set}
     *
     * @param attribute which
     */
    public boolean isSet(QueuePairAttribute attribute) {
        return set.contains(attribute);
    }

    /**
     * Takes back an attribute.
     *
     * @param attribute which
     */
    public QueuePairAttributes unset(QueuePairAttribute attribute) {
        set.remove(attribute);
        return this;
    }

    /**
     * {@return the state to move to, or the state the queue pair is in} C: {@index IBV_QP_STATE},
     * {@index qp_state of struct ibv_qp_attr}.
     */
    public QueuePairState state() {
        return require(QueuePairAttribute.STATE, state);
    }

    /**
     * Sets the state to move to, or the state the queue pair is in. C: {@index IBV_QP_STATE},
     * {@index qp_state of struct ibv_qp_attr}.
     */
    public QueuePairAttributes state(QueuePairState value) {
        state = value;
        set.add(QueuePairAttribute.STATE);
        return this;
    }

    /**
     * {@return the state the caller believes the queue pair is in} C: {@index IBV_QP_CUR_STATE},
     * {@index cur_qp_state of struct ibv_qp_attr}.
     */
    public QueuePairState currentState() {
        return require(QueuePairAttribute.CURRENT_STATE, currentState);
    }

    /**
     * Sets the state the caller believes the queue pair is in. C: {@index IBV_QP_CUR_STATE},
     * {@index cur_qp_state of struct ibv_qp_attr}.
     */
    public QueuePairAttributes currentState(QueuePairState value) {
        currentState = value;
        set.add(QueuePairAttribute.CURRENT_STATE);
        return this;
    }

    /**
     * {@return whether an event is wanted when the send queue is drained} C:
     * {@code IBV_QP_EN_SQD_ASYNC_NOTIFY}, {@code en_sqd_async_notify}.
     */
    public boolean enableSqdAsyncNotify() {
        require(QueuePairAttribute.ENABLE_SQD_ASYNC_NOTIFY);
        return enableSqdAsyncNotify;
    }

    /**
     * Sets whether an event is wanted when the send queue is drained. C: {@index IBV_QP_EN_SQD_ASYNC_NOTIFY},
     * {@index en_sqd_async_notify of struct ibv_qp_attr}.
     */
    public QueuePairAttributes enableSqdAsyncNotify(boolean value) {
        enableSqdAsyncNotify = value;
        set.add(QueuePairAttribute.ENABLE_SQD_ASYNC_NOTIFY);
        return this;
    }

    /**
     * {@return what the peer may do through this queue pair} C: {@index IBV_QP_ACCESS_FLAGS},
     * {@index qp_access_flags of struct ibv_qp_attr}.
     */
    public Set<AccessFlag> accessFlags() {
        require(QueuePairAttribute.ACCESS_FLAGS);
        return accessFlags;
    }

    /**
     * Sets what the peer may do through this queue pair. C: {@index IBV_QP_ACCESS_FLAGS},
     * {@index qp_access_flags of struct ibv_qp_attr}.
     *
     * @param first one
     * @param more further ones
     */
    public QueuePairAttributes accessFlags(AccessFlag first, AccessFlag... more) {
        accessFlags = Set.copyOf(EnumSet.of(first, more));
        set.add(QueuePairAttribute.ACCESS_FLAGS);
        return this;
    }

    /**
     * Sets what the peer may do through this queue pair. C: {@index IBV_QP_ACCESS_FLAGS},
     * {@index qp_access_flags of struct ibv_qp_attr}.
     */
    public QueuePairAttributes accessFlags(Set<AccessFlag> value) {
        accessFlags = Set.copyOf(value);
        set.add(QueuePairAttribute.ACCESS_FLAGS);
        return this;
    }

    /**
     * {@return the index of the P_Key in the port's table} C: {@index IBV_QP_PKEY_INDEX},
     * {@index pkey_index of struct ibv_qp_attr}.
     */
    public int pkeyIndex() {
        require(QueuePairAttribute.PKEY_INDEX);
        return pkeyIndex;
    }

    /**
     * Sets the index of the P_Key in the port's table. C: {@index IBV_QP_PKEY_INDEX},
     * {@index pkey_index of struct ibv_qp_attr}.
     */
    public QueuePairAttributes pkeyIndex(int value) {
        checkRange(QueuePairAttribute.PKEY_INDEX, value, 0, 65535);
        pkeyIndex = value;
        set.add(QueuePairAttribute.PKEY_INDEX);
        return this;
    }

    /** {@return the port, from 1} C: {@index IBV_QP_PORT}, {@index port_num of struct ibv_qp_attr}. */
    public int port() {
        require(QueuePairAttribute.PORT);
        return port;
    }

    /** Sets the port, from 1. C: {@index IBV_QP_PORT}, {@index port_num of struct ibv_qp_attr}. */
    public QueuePairAttributes port(int value) {
        checkRange(QueuePairAttribute.PORT, value, 1, 255);
        port = value;
        set.add(QueuePairAttribute.PORT);
        return this;
    }

    /** {@return the Q_Key of a datagram queue pair} C: {@index IBV_QP_QKEY}, {@index qkey of struct ibv_qp_attr}. */
    public int qkey() {
        require(QueuePairAttribute.QKEY);
        return qkey;
    }

    /** Sets the Q_Key of a datagram queue pair. C: {@index IBV_QP_QKEY}, {@index qkey of struct ibv_qp_attr}. */
    public QueuePairAttributes qkey(int value) {
        qkey = value;
        set.add(QueuePairAttribute.QKEY);
        return this;
    }

    /** {@return the path to the peer} C: {@index IBV_QP_AV}, {@index ah_attr of struct ibv_qp_attr}. */
    public AddressHandleAttributes addressVector() {
        return require(QueuePairAttribute.ADDRESS_VECTOR, addressVector);
    }

    /** Sets the path to the peer. C: {@index IBV_QP_AV}, {@index ah_attr of struct ibv_qp_attr}. */
    public QueuePairAttributes addressVector(AddressHandleAttributes value) {
        addressVector = value;
        set.add(QueuePairAttribute.ADDRESS_VECTOR);
        return this;
    }

    /** {@return the payload bytes of a full packet} C: {@index IBV_QP_PATH_MTU}, {@index path_mtu of struct ibv_qp_attr}. */
    public Mtu pathMtu() {
        return require(QueuePairAttribute.PATH_MTU, pathMtu);
    }

    /** Sets the payload bytes of a full packet. C: {@index IBV_QP_PATH_MTU}, {@index path_mtu of struct ibv_qp_attr}. */
    public QueuePairAttributes pathMtu(Mtu value) {
        pathMtu = value;
        set.add(QueuePairAttribute.PATH_MTU);
        return this;
    }

    /**
     * {@return the acknowledgement time-out, 4.096 us times 2 to this power; 0 means no time-out} C:
     * {@code IBV_QP_TIMEOUT}, {@code timeout}.
     */
    public int ackTimeoutExponent() {
        require(QueuePairAttribute.TIMEOUT);
        return timeout;
    }

    /**
     * Sets the acknowledgement time-out, 4.096 us times 2 to this power; 0 means no time-out. A device may take up to four
     * times as long (IBTA 9.7.6.1.3); the software device does where it has seen that packets wait in a queue on the way.
     * C: {@index IBV_QP_TIMEOUT}, {@index timeout of struct ibv_qp_attr}.
     */
    public QueuePairAttributes ackTimeoutExponent(int value) {
        checkRange(QueuePairAttribute.TIMEOUT, value, 0, 31);
        timeout = value;
        set.add(QueuePairAttribute.TIMEOUT);
        return this;
    }

    /** {@return retries before giving up, 0 to 7} C: {@index IBV_QP_RETRY_CNT}, {@index retry_cnt of struct ibv_qp_attr}. */
    public int retryCount() {
        require(QueuePairAttribute.RETRY_COUNT);
        return retryCount;
    }

    /** Sets retries before giving up, 0 to 7. C: {@index IBV_QP_RETRY_CNT}, {@index retry_cnt of struct ibv_qp_attr}. */
    public QueuePairAttributes retryCount(int value) {
        checkRange(QueuePairAttribute.RETRY_COUNT, value, 0, 7);
        retryCount = value;
        set.add(QueuePairAttribute.RETRY_COUNT);
        return this;
    }

    /**
     * {@return retries while the peer has no receive posted; 7 means without limit} C: {@index IBV_QP_RNR_RETRY},
     * {@index rnr_retry of struct ibv_qp_attr}.
     */
    public int rnrRetry() {
        require(QueuePairAttribute.RNR_RETRY);
        return rnrRetry;
    }

    /**
     * Sets retries while the peer has no receive posted; 7 means without limit. C: {@index IBV_QP_RNR_RETRY},
     * {@index rnr_retry of struct ibv_qp_attr}.
     */
    public QueuePairAttributes rnrRetry(int value) {
        checkRange(QueuePairAttribute.RNR_RETRY, value, 0, 7);
        rnrRetry = value;
        set.add(QueuePairAttribute.RNR_RETRY);
        return this;
    }

    /** {@return the first PSN expected from the peer} C: {@index IBV_QP_RQ_PSN}, {@index rq_psn of struct ibv_qp_attr}. */
    public int receivePsn() {
        require(QueuePairAttribute.RECEIVE_PSN);
        return receivePsn;
    }

    /** Sets the first PSN expected from the peer. C: {@index IBV_QP_RQ_PSN}, {@index rq_psn of struct ibv_qp_attr}. */
    public QueuePairAttributes receivePsn(int value) {
        checkRange(QueuePairAttribute.RECEIVE_PSN, value, 0, 0xffffff);
        receivePsn = value;
        set.add(QueuePairAttribute.RECEIVE_PSN);
        return this;
    }

    /**
     * {@return READs and atomics this side may have outstanding} C: {@index IBV_QP_MAX_QP_RD_ATOMIC},
     * {@index max_rd_atomic of struct ibv_qp_attr}.
     */
    public int maxReadAtomic() {
        require(QueuePairAttribute.MAX_READ_ATOMIC);
        return maxReadAtomic;
    }

    /**
     * Sets READs and atomics this side may have outstanding. C: {@index IBV_QP_MAX_QP_RD_ATOMIC},
     * {@index max_rd_atomic of struct ibv_qp_attr}.
     */
    public QueuePairAttributes maxReadAtomic(int value) {
        checkRange(QueuePairAttribute.MAX_READ_ATOMIC, value, 0, 255);
        maxReadAtomic = value;
        set.add(QueuePairAttribute.MAX_READ_ATOMIC);
        return this;
    }

    /** {@return the alternate path} C: {@index IBV_QP_ALT_PATH}, {@index alt_ah_attr of struct ibv_qp_attr}. */
    public AddressHandleAttributes alternatePath() {
        return require(QueuePairAttribute.ALTERNATE_PATH, alternatePath);
    }

    /** Sets the alternate path. C: {@index IBV_QP_ALT_PATH}, {@index alt_ah_attr of struct ibv_qp_attr}. */
    public QueuePairAttributes alternatePath(AddressHandleAttributes value) {
        alternatePath = value;
        set.add(QueuePairAttribute.ALTERNATE_PATH);
        return this;
    }

    /**
     * {@return the code of the wait asked of a peer that finds no receive posted, 0 to 31} C:
     * {@index IBV_QP_MIN_RNR_TIMER}, {@index min_rnr_timer of struct ibv_qp_attr}.
     */
    public int minRnrTimerCode() {
        require(QueuePairAttribute.MIN_RNR_TIMER);
        return minRnrTimer;
    }

    /**
     * Sets the code of the wait asked of a peer that finds no receive posted, 0 to 31. C:
     * {@index IBV_QP_MIN_RNR_TIMER}, {@index min_rnr_timer of struct ibv_qp_attr}.
     */
    public QueuePairAttributes minRnrTimerCode(int value) {
        checkRange(QueuePairAttribute.MIN_RNR_TIMER, value, 0, 31);
        minRnrTimer = value;
        set.add(QueuePairAttribute.MIN_RNR_TIMER);
        return this;
    }

    /** {@return the first PSN this side sends} C: {@index IBV_QP_SQ_PSN}, {@index sq_psn of struct ibv_qp_attr}. */
    public int sendPsn() {
        require(QueuePairAttribute.SEND_PSN);
        return sendPsn;
    }

    /** Sets the first PSN this side sends. C: {@index IBV_QP_SQ_PSN}, {@index sq_psn of struct ibv_qp_attr}. */
    public QueuePairAttributes sendPsn(int value) {
        checkRange(QueuePairAttribute.SEND_PSN, value, 0, 0xffffff);
        sendPsn = value;
        set.add(QueuePairAttribute.SEND_PSN);
        return this;
    }

    /**
     * {@return READs and atomics of the peer this side can hold} C: {@index IBV_QP_MAX_DEST_RD_ATOMIC},
     * {@index max_dest_rd_atomic of struct ibv_qp_attr}.
     */
    public int maxDestinationReadAtomic() {
        require(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);
        return maxDestinationReadAtomic;
    }

    /**
     * Sets READs and atomics of the peer this side can hold. C: {@index IBV_QP_MAX_DEST_RD_ATOMIC},
     * {@index max_dest_rd_atomic of struct ibv_qp_attr}.
     */
    public QueuePairAttributes maxDestinationReadAtomic(int value) {
        checkRange(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC, value, 0, 255);
        maxDestinationReadAtomic = value;
        set.add(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);
        return this;
    }

    /**
     * {@return the state of path migration} C: {@index IBV_QP_PATH_MIG_STATE},
     * {@index path_mig_state of struct ibv_qp_attr}.
     */
    public PathMigrationState pathMigrationState() {
        return require(QueuePairAttribute.PATH_MIGRATION_STATE, pathMigrationState);
    }

    /**
     * Sets the state of path migration. C: {@index IBV_QP_PATH_MIG_STATE}, {@index path_mig_state of struct ibv_qp_attr}.
     */
    public QueuePairAttributes pathMigrationState(PathMigrationState value) {
        pathMigrationState = value;
        set.add(QueuePairAttribute.PATH_MIGRATION_STATE);
        return this;
    }

    /** {@return the sizes of the queues} C: {@index IBV_QP_CAP}, {@index cap of struct ibv_qp_attr}. */
    public QueuePairCapabilities capabilities() {
        return require(QueuePairAttribute.CAPABILITIES, capabilities);
    }

    /** Sets the sizes of the queues. C: {@index IBV_QP_CAP}, {@index cap of struct ibv_qp_attr}. */
    public QueuePairAttributes capabilities(QueuePairCapabilities value) {
        capabilities = value;
        set.add(QueuePairAttribute.CAPABILITIES);
        return this;
    }

    /**
     * {@return the number of the peer's queue pair} C: {@index IBV_QP_DEST_QPN},
     * {@index dest_qp_num of struct ibv_qp_attr}.
     */
    public int destinationQueuePairNumber() {
        require(QueuePairAttribute.DESTINATION_QUEUE_PAIR);
        return destinationQueuePair;
    }

    /** Sets the number of the peer's queue pair. C: {@index IBV_QP_DEST_QPN}, {@index dest_qp_num of struct ibv_qp_attr}. */
    public QueuePairAttributes destinationQueuePairNumber(int value) {
        checkRange(QueuePairAttribute.DESTINATION_QUEUE_PAIR, value, 0, 0xffffff);
        destinationQueuePair = value;
        set.add(QueuePairAttribute.DESTINATION_QUEUE_PAIR);
        return this;
    }

    /**
     * {@return packet pacing in kilobits a second} C: {@index IBV_QP_RATE_LIMIT},
     * {@index rate_limit of struct ibv_qp_attr}.
     */
    public int rateLimitKbps() {
        require(QueuePairAttribute.RATE_LIMIT);
        return rateLimitKbps;
    }

    /** Sets packet pacing in kilobits a second. C: {@index IBV_QP_RATE_LIMIT}, {@index rate_limit of struct ibv_qp_attr}. */
    public QueuePairAttributes rateLimitKbps(int value) {
        rateLimitKbps = value;
        set.add(QueuePairAttribute.RATE_LIMIT);
        return this;
    }

    /**
     * Sets everything that is set in another, too.
     *
     * @param other whose attributes are taken over
     */
    public QueuePairAttributes merge(QueuePairAttributes other) {
        for (QueuePairAttribute attribute : other.set) {
            switch (attribute) {
                case STATE -> state = other.state;
                case CURRENT_STATE -> currentState = other.currentState;
                case ENABLE_SQD_ASYNC_NOTIFY -> enableSqdAsyncNotify = other.enableSqdAsyncNotify;
                case ACCESS_FLAGS -> accessFlags = other.accessFlags;
                case PKEY_INDEX -> pkeyIndex = other.pkeyIndex;
                case PORT -> port = other.port;
                case QKEY -> qkey = other.qkey;
                case ADDRESS_VECTOR -> addressVector = other.addressVector;
                case PATH_MTU -> pathMtu = other.pathMtu;
                case TIMEOUT -> timeout = other.timeout;
                case RETRY_COUNT -> retryCount = other.retryCount;
                case RNR_RETRY -> rnrRetry = other.rnrRetry;
                case RECEIVE_PSN -> receivePsn = other.receivePsn;
                case MAX_READ_ATOMIC -> maxReadAtomic = other.maxReadAtomic;
                case ALTERNATE_PATH -> alternatePath = other.alternatePath;
                case MIN_RNR_TIMER -> minRnrTimer = other.minRnrTimer;
                case SEND_PSN -> sendPsn = other.sendPsn;
                case MAX_DESTINATION_READ_ATOMIC ->
                    maxDestinationReadAtomic = other.maxDestinationReadAtomic;
                case PATH_MIGRATION_STATE -> pathMigrationState = other.pathMigrationState;
                case CAPABILITIES -> capabilities = other.capabilities;
                case DESTINATION_QUEUE_PAIR -> destinationQueuePair = other.destinationQueuePair;
                case RATE_LIMIT -> rateLimitKbps = other.rateLimitKbps;
            }
        }
        set.addAll(other.set);
        return this;
    }

    @Override
    public String toString() {
        return set.stream().map(attribute -> attribute + "=" + value(attribute))
                .collect(Collectors.joining(", ", "queue pair attributes [", "]"));
    }

    private @Nullable Object value(QueuePairAttribute attribute) {
        return switch (attribute) {
            case STATE -> state;
            case CURRENT_STATE -> currentState;
            case ENABLE_SQD_ASYNC_NOTIFY -> enableSqdAsyncNotify;
            case ACCESS_FLAGS -> accessFlags;
            case PKEY_INDEX -> pkeyIndex;
            case PORT -> port;
            case QKEY -> String.format("0x%06x", qkey);
            case ADDRESS_VECTOR -> addressVector;
            case PATH_MTU -> pathMtu;
            case TIMEOUT -> timeout;
            case RETRY_COUNT -> retryCount;
            case RNR_RETRY -> rnrRetry;
            case RECEIVE_PSN -> String.format("0x%06x", receivePsn);
            case MAX_READ_ATOMIC -> maxReadAtomic;
            case ALTERNATE_PATH -> alternatePath;
            case MIN_RNR_TIMER -> minRnrTimer;
            case SEND_PSN -> String.format("0x%06x", sendPsn);
            case MAX_DESTINATION_READ_ATOMIC -> maxDestinationReadAtomic;
            case PATH_MIGRATION_STATE -> pathMigrationState;
            case CAPABILITIES -> capabilities;
            case DESTINATION_QUEUE_PAIR -> String.format("0x%06x", destinationQueuePair);
            case RATE_LIMIT -> rateLimitKbps;
        };
    }

    private void require(QueuePairAttribute attribute) {
        if (!set.contains(attribute)) {
            throw new IllegalStateException(attribute + " (" + attribute.field() + ") is not set");
        }
    }

    private <T> T require(QueuePairAttribute attribute, @Nullable T value) {
        if (value == null || !set.contains(attribute)) {
            throw new IllegalStateException(attribute + " (" + attribute.field() + ") is not set");
        }
        return value;
    }

    private static void checkRange(QueuePairAttribute attribute, int value, int low, int high) {
        if (value < low || value > high) {
            throw new IllegalArgumentException(attribute.field() + " must be from " + low + " to "
                    + high + ", not " + value);
        }
    }
}
