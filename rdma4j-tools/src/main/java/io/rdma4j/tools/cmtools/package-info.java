// SPDX-License-Identifier: Apache-2.0
/**
 * The tools of librdmacm under their own names; they interoperate with the C programs.
 *
 * <p>{@code Ucmatose}, {@code Udaddy} and {@code Mckey} are commands that have only what is special about them. They share
 * {@code Rendezvous}, which connects the sides and exchanges their messages, {@code Connections}, which waits for the
 * events of all connections, {@code Connection}, which has the verbs' objects of one, and {@code ExitStatus}.
 * {@code Cmtime} has a structure of its own; {@code CmtimeSockets} measures the same with sockets, to compare. Knows only
 * the API and the shared parts of the tools. Start reading at {@code Ucmatose}.
 */
@NullMarked
package io.rdma4j.tools.cmtools;

import org.jspecify.annotations.NullMarked;
