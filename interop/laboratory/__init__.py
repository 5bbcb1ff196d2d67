# SPDX-License-Identifier: Apache-2.0
"""Linux guests with kernel RDMA, connected only to this machine."""
