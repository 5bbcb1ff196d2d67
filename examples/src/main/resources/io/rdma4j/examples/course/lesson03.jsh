import io.rdma4j.cm.*
import io.rdma4j.connection.*
import io.rdma4j.verbs.*
import java.lang.foreign.*
import java.net.*
import java.time.*
var arena = Arena.ofShared()
var events = CmEventChannel.create()
var listener = CmId.create(PortSpace.TCP)
listener.bindAddress(new InetSocketAddress("127.0.0.1", 0))
listener.listen(1)
var client = CmId.create(events, PortSpace.TCP)
client.resolveAddress(listener.localAddress(), Duration.ofSeconds(2))
try (var event = events.awaitEvent()) { System.out.println(event); }
client.resolveRoute(Duration.ofSeconds(2))
try (var event = events.awaitEvent()) { System.out.println(event); }
client.createQueuePair()
client.connect()
var server = listener.awaitRequest()
server.createQueuePair()
var received = server.registerMessages(arena.allocate(64))
server.postReceive(1, received, 0, 64)
server.accept()
try (var event = events.awaitEvent()) { System.out.println(event); }
var message = arena.allocateFrom("hello RDMA")
var region = client.registerMessages(message)
client.postSend(2, region, 0, message.byteSize(), SendFlag.SIGNALED)
client.awaitSendCompletion()
server.awaitReceiveCompletion()
received.segment().getString(0)
client.disconnect()
try (var event = events.awaitEvent()) { System.out.println(event); }
client.closeQueuePair()
server.closeQueuePair()
region.close()
received.close()
client.close()
server.close()
listener.close()
events.close()
