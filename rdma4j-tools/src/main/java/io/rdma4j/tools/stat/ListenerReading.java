// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

/**
 * What one look at a listener of sockets shows.
 *
 * @param local its address and port
 * @param backlog how many connections may wait to be accepted
 * @param waiting how many do
 * @param answered how many more are being made
 * @param rule by which it listens over RDMA, empty if no rules have decided
 */
record ListenerReading(String local, int backlog, int waiting, int answered, String rule) {}
