// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

/** All calls that DiSNI makes of its native library, and the sizes that it asks for. */
public final class NativeCalls {
    /** What libdisni of versions 2.0 and 2.1 answers. */
    public static final int VERSION = 32;
    public static final int ADDRESS_BYTES = CallMemory.ADDRESS_BYTES;
    public static final int RECEIVE_REQUEST_BYTES = PostedQueuePair.RECEIVE_REQUEST_BYTES;
    public static final int SEND_REQUEST_BYTES = PostedQueuePair.SEND_REQUEST_BYTES;
    public static final int ELEMENT_BYTES = PostedQueuePair.ELEMENT_BYTES;
    /** Of {@code struct ibv_wc}, which nothing writes here. */
    public static final int COMPLETION_BYTES = 48;
    /** Where these are in a send request. */
    public static final int REMOTE_ADDRESS = PostedQueuePair.REMOTE_ADDRESS;
    public static final int RKEY = PostedQueuePair.RKEY;

    private final CmCalls cm;
    private final VerbsCalls verbs;

    public NativeCalls() {
        Handles handles = new Handles();
        Devices devices = new Devices(handles);
        DeferredClosing closing = new DeferredClosing();
        cm = new CmCalls(handles, devices, closing);
        verbs = new VerbsCalls(handles, devices, closing);
    }

    public CmCalls cm() {
        return cm;
    }

    public VerbsCalls verbs() {
        return verbs;
    }
}
