// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.SVCPollCq;
import io.rdma4j.testkit.Wait;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedList;
import java.util.List;

/** One end of a connection, made by DiSNI's verbs. */
final class End {
    static final int ALL_ACCESS = IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE
            | IbvMr.IBV_ACCESS_REMOTE_READ;
    private static final int DEPTH = 16;
    static final int INLINE = 64;

    final RdmaCmId id;
    final IbvPd domain;
    final IbvCompChannel channel;
    final IbvCQ queue;
    final IbvQP queuePair;
    private final IbvWC[] completions = {new IbvWC()};
    private final SVCPollCq poll;

    End(RdmaCmId id) throws IOException {
        this.id = id;
        IbvContext context = id.getVerbs();
        domain = context.allocPd();
        channel = context.createCompChannel();
        queue = context.createCQ(channel, 2 * DEPTH, 0);
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setSend_cq(queue);
        attributes.setRecv_cq(queue);
        attributes.cap().setMax_send_wr(DEPTH);
        attributes.cap().setMax_recv_wr(DEPTH);
        attributes.cap().setMax_inline_data(INLINE);
        queuePair = id.createQP(domain, attributes);
        poll = queue.poll(completions, 1);
    }

    /** {@return a region of new memory} */
    IbvMr register(ByteBuffer buffer) throws IOException {
        return domain.regMr(buffer, ALL_ACCESS).execute().free().getMr();
    }

    static IbvSge element(IbvMr region, int offset, int length) {
        IbvSge element = new IbvSge();
        element.setAddr(region.getAddr() + offset);
        element.setLength(length);
        element.setLkey(region.getLkey());
        return element;
    }

    /** {@return what DiSNI wants} */
    @SuppressWarnings({"JdkObsolete", "NonApiType"})
    static LinkedList<IbvSge> list(IbvSge... elements) {
        return new LinkedList<>(List.of(elements));
    }

    /** {@return a signaled request} */
    static IbvSendWR request(int id, int opcode, IbvSge... elements) {
        IbvSendWR request = new IbvSendWR();
        request.setWr_id(id);
        request.setOpcode(opcode);
        request.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
        request.setSg_list(list(elements));
        request.setNum_sge(elements.length);
        return request;
    }

    static IbvSendWR to(IbvSendWR request, IbvMr region, int offset) {
        request.getRdma().setRemote_addr(region.getAddr() + offset);
        request.getRdma().setRkey(region.getRkey());
        return request;
    }

    void send(IbvSendWR... requests) throws IOException {
        queuePair.postSend(List.of(requests), null).execute().free();
    }

    void receive(int id, IbvSge... elements) throws IOException {
        IbvRecvWR request = new IbvRecvWR();
        request.setWr_id(id);
        request.setSg_list(list(elements));
        request.setNum_sge(elements.length);
        queuePair.postRecv(List.of(request), null).execute().free();
    }

    /** {@return the next completion, whose object the following one fills} */
    IbvWC awaitCompletion() throws IOException {
        Wait.until("there is a completion", () -> poll.execute().getPolls() == 1);
        return completions[0];
    }
}
