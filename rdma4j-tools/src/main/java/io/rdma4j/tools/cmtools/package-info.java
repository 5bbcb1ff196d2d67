/**
 * The connection manager's tools of librdmacm under their own names, able to talk to the C programs.
 *
 * <p>{@code Ucmatose}, {@code Udaddy} and {@code Mckey} are commands that say what is special about them. They share
 * {@code Rendezvous}, how sides come together and what they send each other, {@code Connections}, which reads the events of
 * all connections and waits with them, {@code Connection}, which holds the verbs' objects of one, and {@code ExitStatus}.
 * {@code Cmtime} has a frame of its own, and {@code CmtimeSockets} beside it to compare with. Knows the API alone. Start
 * reading at {@code Ucmatose}.
 */
@NullMarked
package io.rdma4j.tools.cmtools;

import org.jspecify.annotations.NullMarked;
