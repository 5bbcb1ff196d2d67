import io.rdma4j.verbs.*
import java.lang.foreign.*
var context = RdmaDevices.find("roce_lo").open()
var domain = context.allocateProtectionDomain()
var buffer = Arena.ofShared().allocate(4096)
var region = domain.register(buffer, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ)
region.lkey() == region.rkey()
region.access().contains(AccessFlag.REMOTE_WRITE)
region.close()
domain.close()
context.close()
