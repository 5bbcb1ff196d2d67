# The tools in an image without a JDK:
#
#     docker build -t rdma4j .
#     docker run --rm --network host rdma4j demo
FROM eclipse-temurin:25-jdk AS build
RUN apt-get update && apt-get install -y --no-install-recommends maven && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN /source/build/image /opt/rdma4j

FROM debian:13-slim
COPY --from=build /opt/rdma4j /opt/rdma4j
# No privilege is needed; containers that shall share addresses run as one user.
USER 1000
ENTRYPOINT ["/opt/rdma4j/bin/rdma4j"]
CMD ["--help"]
