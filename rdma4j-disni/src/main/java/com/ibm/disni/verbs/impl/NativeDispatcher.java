// SPDX-License-Identifier: Apache-2.0
package com.ibm.disni.verbs.impl;

import io.rdma4j.disni.CmCalls;
import io.rdma4j.disni.NativeCalls;
import io.rdma4j.disni.VerbsCalls;
import io.rdma4j.verbs.CompletionQueue;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Takes the place of DiSNI's class of this name, which calls a native library: names and shapes of the methods are DiSNI's, what they
 * do is {@link CmCalls} and {@link VerbsCalls}. Thread safe.
 */
public class NativeDispatcher {
    private static final int DONE = 0;
    private static final int NOT_SUPPORTED = -1;

    private final CmCalls cm;
    private final VerbsCalls verbs;

    NativeDispatcher() throws IOException {
        NativeCalls calls = new NativeCalls();
        cm = calls.cm();
        verbs = calls.verbs();
    }

    // ---------------------------------------------------------------- connection manager

    public long _createEventChannel() throws IOException {
        return cm.createEventChannel();
    }

    public int _destroyEventChannel(long channel) {
        return cm.destroyEventChannel(channel);
    }

    public long _createId(long channel, short portSpace) throws IOException {
        return cm.createId(channel);
    }

    public int _destroyCmId(long id) {
        return cm.destroyId(id);
    }

    public int _destroyEp(long id) {
        return cm.destroyId(id);
    }

    public void _bindAddr(long id, long address) throws IOException {
        cm.bindAddress(id, address);
    }

    public void _listen(long id, int backlog) throws IOException {
        cm.listen(id, backlog);
    }

    public void _resolveAddr(long id, long source, long destination, int milliseconds)
            throws IOException {
        cm.resolveAddress(id, source, destination, milliseconds);
    }

    public void _resolveRoute(long id, int milliseconds) throws IOException {
        cm.resolveRoute(id, milliseconds);
    }

    public int _getCmEvent(long channel, long listenId, long id, int milliseconds) {
        return cm.nextEvent(channel, listenId, id, milliseconds);
    }

    /** It was acknowledged when it was taken. */
    public int _ackCmEvent(int event) {
        return DONE;
    }

    public void _connect(long id, int retryCount, int rnrRetryCount, long privateData,
            byte privateDataLength) throws IOException {
        cm.connect(id, retryCount, rnrRetryCount, privateData, privateDataLength);
    }

    public void _accept(long id, int retryCount, int rnrRetryCount) throws IOException {
        cm.accept(id, retryCount, rnrRetryCount);
    }

    public int _disconnect(long id) {
        return cm.disconnect(id);
    }

    public int _getSrcAddr(long id, long address) {
        return cm.localAddress(id, address);
    }

    public int _getDstAddr(long id, long address) {
        return cm.peerAddress(id, address);
    }

    public long _getContext(long id) throws IOException {
        return cm.context(id);
    }

    public long _createQP(long id, long domain, long sendQueue, long receiveQueue, int type,
            int sends, int receives, int inlineBytes) throws IOException {
        return cm.createQueuePair(id, domain, sendQueue, receiveQueue, type, sends, receives,
                inlineBytes);
    }

    public int _destroyQP(long id) {
        return cm.destroyQueuePair(id);
    }

    // ---------------------------------------------------------------- verbs

    public int _getContextFd(long context) throws IOException {
        return verbs.deviceNumber(context);
    }

    public int _getContextNumCompVectors(long context) throws IOException {
        return verbs.completionVectors(context);
    }

    public long _allocPd(long context) throws IOException {
        return verbs.allocateProtectionDomain(context);
    }

    public int _getPdHandle(long domain) throws IOException {
        return verbs.protectionDomainNumber(domain);
    }

    public int _deallocPd(long domain) {
        return verbs.deallocateProtectionDomain(domain);
    }

    public long _regMr(long domain, long address, int length, int access, long lkey, long rkey,
            long handle) throws IOException {
        return verbs.register(domain, address, length, access, lkey, rkey, handle);
    }

    /**
     * As {@link #_regMr}, of a buffer that is kept. DiSNI's own class has no such method.
     *
     * @param keys where lkey, rkey and handle are written, 4 bytes each
     */
    long register(long domain, ByteBuffer buffer, int access, long keys) throws IOException {
        return verbs.register(domain, buffer, access, keys);
    }

    public void _deregMr(long region) throws IOException {
        verbs.deregister(region);
    }

    public int _queryOdpSupport(long context) {
        return NOT_SUPPORTED;
    }

    public int _expPrefetchMr(long region, long address, int length) throws IOException {
        return NOT_SUPPORTED;
    }

    public long _createCompChannel(long context) throws IOException {
        return verbs.createCompletionChannel(context);
    }

    public int _destroyCompChannel(long channel) {
        return verbs.destroyCompletionChannel(channel);
    }

    public long _createCQ(long context, long channel, int capacity, int vector)
            throws IOException {
        return verbs.createCompletionQueue(context, channel, capacity, vector);
    }

    public int _destroyCQ(long queue) {
        return verbs.destroyCompletionQueue(queue);
    }

    /** {@return the queue to poll} Takes the place of DiSNI's {@code _pollCQ}: completions take no way through memory. */
    CompletionQueue queue(long queue) throws IOException {
        return verbs.queue(queue);
    }

    public int _reqNotifyCQ(long queue, int isSolicitedOnly) throws IOException {
        verbs.requestNotification(queue, isSolicitedOnly);
        return DONE;
    }

    public int _getCqEvent(long channel, int milliseconds) throws IOException {
        return verbs.nextEvent(channel, milliseconds);
    }

    /** It was acknowledged when it was taken. */
    public int _ackCqEvent(long queue, int count) {
        return DONE;
    }

    public int _getQpNum(long queuePair) throws IOException {
        return verbs.queuePairNumber(queuePair);
    }

    public int _modifyQP(long queuePair, long attributes) throws IOException {
        return verbs.modifyQueuePair(queuePair);
    }

    public void _postSend(long queuePair, long requests) throws IOException {
        verbs.postSend(queuePair, requests);
    }

    public void _postRecv(long queuePair, long requests) throws IOException {
        verbs.postReceive(queuePair, requests);
    }

    // ---------------------------------------------------------------- structures

    public int _getSockAddrInSize() {
        return NativeCalls.ADDRESS_BYTES;
    }

    public int _getIbvRecvWRSize() {
        return NativeCalls.RECEIVE_REQUEST_BYTES;
    }

    public int _getIbvSendWRSize() {
        return NativeCalls.SEND_REQUEST_BYTES;
    }

    public int _getIbvSgeSize() {
        return NativeCalls.ELEMENT_BYTES;
    }

    public int _getIbvWCSize() {
        return NativeCalls.COMPLETION_BYTES;
    }

    public int _getRemoteAddressOffset() {
        return NativeCalls.REMOTE_ADDRESS;
    }

    public int _getRKeyOffset() {
        return NativeCalls.RKEY;
    }

    public int _getVersion() {
        return NativeCalls.VERSION;
    }
}
