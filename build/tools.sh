# SPDX-License-Identifier: Apache-2.0
# For what runs the tools, which sets name (of the command), jdk (a home), lib (the folder of jars), classpath and cache (of the JVM; need
# not exist): runs the tool that the arguments name.
# shellcheck shell=sh

usage_of_run() {
    cat <<END
Usage: rdma4j run [RULES] -- COMMAND...
Runs a command whose Java programs, and those that they start, have their channels
over RDMA or TCP as rules say. The first rule that matches decides:

  RULES     RULE,RULE,... or @FILE with a rule a line; all over RDMA without RULES
  RULE      [connect:|listen:|datagrams:]ADDRESS[/BITS][:PORT[-PORT]]=rdma|tcp|auto

Example: rdma4j run '10.0.0.0/8=rdma,*=tcp' -- java -jar app.jar
docs/howto/sockets.md has more.
END
}

# Becomes the command. Java programs that it starts read the variable, whatever starts them.
run_command() {
    case ${1:-} in
        -h | --help) usage_of_run && exit 0 ;;
    esac
    rules=
    if [ "${1:-}" != -- ] && [ $# -gt 0 ]; then
        rules=$1
        shift
        case $rules in
            # Programs that the command starts may be in other directories.
            @[!/\ ]*) rules=@$PWD/${rules#@} ;;
        esac
    fi
    if [ "${1:-}" != -- ] || [ $# -lt 2 ]; then
        echo "rdma4j: run takes [RULES] -- COMMAND, as in: rdma4j run -- java -jar app.jar" >&2
        exit 2
    fi
    shift
    unset LANG LC_CTYPE LC_MESSAGES LANGUAGE
    eval "$locale"
    jar=$lib/rdma4j-sockets.jar
    # What rdma4j needs of the JDK, and a program that is a module may not require.
    modules=--add-modules=java.management,jdk.jfr,jdk.net
    JDK_JAVA_OPTIONS="${JDK_JAVA_OPTIONS:+$JDK_JAVA_OPTIONS }$modules \"-javaagent:$jar=$rules\""
    PATH=$jdk/bin:$PATH
    export JDK_JAVA_OPTIONS PATH
    exec "$@"
}

if [ "${1:-}" = run ]; then
    shift
    run_command "$@"
fi

# A JVM takes one collector; the user's goes first.
collector=-XX:+UseSerialGC
case " ${RDMA4J_OPTS:-}" in
    *" -XX:+Use"*GC*) collector= ;;
esac

# What is over in a moment does not live to spend what the second compiler would gain.
case ${1:-} in
    '' | -* | demo | lesson | jshell | ibv_devices | ibv_devinfo | doctor | show_gids | stat) compiler=-XX:TieredStopAtLevel=1 ;;
    *) compiler= ;;
esac

# shellcheck disable=SC2086 # RDMA4J_OPTS holds several words on purpose, collector and compiler may be none.
exec "$jdk/bin/java" --enable-native-access=ALL-UNNAMED $compiler ${RDMA4J_OPTS:-} $collector \
    -XX:AOTCache="$cache" -Xlog:aot=off -Xlog:cds=off -Xlog:class+path=off -cp "$classpath" io.rdma4j.tools.Main "$@"
