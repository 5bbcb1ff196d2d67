# SPDX-License-Identifier: Apache-2.0
"""The interoperability suite: the runs with Linux, their verdicts and their report."""
