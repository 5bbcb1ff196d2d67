# SPDX-License-Identifier: Apache-2.0
from pyverbs._core import MR, MREx, MW, MWBind, MWBindInfo, DMMR, DmaBufMR
