# SPDX-License-Identifier: Apache-2.0
from pyverbs._core import QPCap, QPInitAttr, QPInitAttrEx, QPAttr, QP, QPEx, ECE, QPRateLimitAttr, DataBuffer
