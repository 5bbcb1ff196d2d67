// SPDX-License-Identifier: Apache-2.0
/** A program of a user. */
module hello {
    requires io.rdma4j.api;
}
