// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.QueuePairType;

import java.util.List;

/**
 * What is to be measured, settled: options that depend on others have their values.
 *
 * @param verb what is measured
 * @param atomic which atomic operation, if that is the verb
 * @param isLatency whether latency is measured, not bandwidth
 * @param isClient whether this side is the client
 * @param type the transport service
 * @param sizes bytes of the messages, one after the other
 * @param isSizeChosen whether the user named the size, so that it may not be cut down
 * @param iterations messages of each queue pair and size; 0 in a timed test
 * @param seconds how long a timed test runs; 0 if iterations count
 * @param marginSeconds how much of that is left out at either end
 * @param queuePairs how many queue pairs
 * @param sendDepth send requests that may be outstanding
 * @param receiveDepth receives posted
 * @param moderation every how many sends one is signaled
 * @param list how many sends are posted at once
 * @param inlineBytes the longest message that is sent inline
 * @param outstanding READs or atomics that may be outstanding; 0 for what the device can
 * @param timeout the acknowledgement time-out, 4.096 us times 2 to this power
 * @param serviceLevel the service level
 * @param usesEvents whether sides sleep until completions are announced
 * @param isBothWays whether both sides send at the same time
 * @param hasPeak whether the best stretch is looked for
 */
record Plan(Verb verb, AtomicOperation atomic, boolean isLatency, boolean isClient,
        QueuePairType type, List<Long> sizes, boolean isSizeChosen, int iterations, int seconds,
        int marginSeconds, int queuePairs, int sendDepth, int receiveDepth, int moderation,
        int list, int inlineBytes, int outstanding, int timeout, int serviceLevel,
        boolean usesEvents, boolean isBothWays, boolean hasPeak) {

    Plan {
        sizes = List.copyOf(sizes);
    }

    boolean isTimed() {
        return seconds > 0;
    }

    boolean isDatagrams() {
        return type == QueuePairType.UD;
    }

    /** {@return whether connections of any transport do, iWARP's as well} */
    boolean isOfAnyTransport() {
        return !isDatagrams() && verb != Verb.ATOMIC;
    }

    /** {@return whether the server sends, too} */
    boolean isServerSending() {
        return isBothWays || (isLatency && !verb.isAnswered());
    }

    /** {@return whether all sizes are gone through} */
    boolean isAllSizes() {
        return sizes.size() > 1;
    }

    long longest() {
        return sizes.getLast();
    }

    /** {@return whether this side posts requests} */
    boolean isSending() {
        return isClient || isServerSending();
    }

    /** {@return whether this side posts receives} */
    boolean isReceiving() {
        return verb.isSend() && (!isClient || isBothWays || isLatency);
    }

    Plan withSizes(List<Long> others) {
        return new Plan(verb, atomic, isLatency, isClient, type, others, isSizeChosen, iterations,
                seconds, marginSeconds, queuePairs, sendDepth, receiveDepth, moderation, list,
                inlineBytes, outstanding, timeout, serviceLevel, usesEvents, isBothWays, hasPeak);
    }

    /** {@return the same with so many receives posted} */
    Plan withReceives(int receives) {
        return new Plan(verb, atomic, isLatency, isClient, type, sizes, isSizeChosen, iterations,
                seconds, marginSeconds, queuePairs, sendDepth, receives, moderation, list,
                inlineBytes, outstanding, timeout, serviceLevel, usesEvents, isBothWays, hasPeak);
    }

    /** {@return the plan of so many messages of one size} */
    Plan round(long size, int messages) {
        int depth = Math.min(sendDepth, messages);
        return new Plan(verb, atomic, isLatency, isClient, type, List.of(size), isSizeChosen,
                messages, 0, 0, queuePairs, depth, Math.min(receiveDepth, messages),
                Math.min(moderation, depth), list, inlineBytes, outstanding, timeout,
                serviceLevel, usesEvents, isBothWays, false);
    }

    /** {@return what is measured, in the words of the C programs} */
    String title() {
        return verb.title() + (verb == Verb.ATOMIC ? " " + atomic.title() : "")
                + (isLatency ? " Latency" : (isBothWays ? " Bidirectional" : "")
                        + (list > 1 ? " Post List" : "") + " BW")
                + " Test";
    }
}
