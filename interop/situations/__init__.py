# SPDX-License-Identifier: Apache-2.0
"""Situations of hosts: what a deployment meets between several machines, as checks of rdma4j's tools."""
