/**
 * The connection manager's tools of librdmacm under their own names, able to talk to the C programs.
 *
 * <p>{@code Ucmatose}, {@code Udaddy} and {@code Mckey} are commands that say what is special about them; they
 * share {@code Meeting}, how sides come together, {@code Gathering}, which reads the events of all connections and waits with them, {@code Node}, which
 * holds the verbs' objects of one connection, and {@code Verdict}, which makes an exit status of what
 * happened. {@code Cmtime} has a frame of its own, and {@code CmtimeSockets} beside it to compare with. Knows the API alone. Start reading at
 * {@code Ucmatose}.
 */
@NullMarked
package io.rdma4j.tools.cmtools;

import org.jspecify.annotations.NullMarked;
