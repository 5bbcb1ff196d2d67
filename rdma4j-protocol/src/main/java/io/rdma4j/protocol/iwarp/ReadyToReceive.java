// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

/**
 * The first message of the initiator, before which a responder must not send. It belongs to no request. Source: RFC 6581
 * 5.1.
 */
public enum ReadyToReceive {
    /** Nothing. */
    NONE,
    /** A WRITE of no bytes. */
    WRITE,
    /** A READ of no bytes. */
    READ
}
