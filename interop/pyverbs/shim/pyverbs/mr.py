from pyverbs._core import MR, MREx, MW, MWBind, MWBindInfo, DMMR, DmaBufMR
