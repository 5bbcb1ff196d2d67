# SPDX-License-Identifier: Apache-2.0
# For scripts that need a JDK 25, which set name (of the command): sets jdk to its home, or says what is missing and ends.
# shellcheck shell=sh
wanted=25

# Prints the home of a JDK of the wanted version, or nothing.
jdk_at() {
    [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] && [ -f "$1/release" ] || return 1
    grep -q "^JAVA_VERSION=\"$wanted[.\"]" "$1/release" || return 1
    printf '%s\n' "$1"
}

find_jdk() {
    if [ -n "${JAVA_HOME:-}" ] && jdk_at "$JAVA_HOME"; then
        return
    fi
    java=$(command -v java || true)
    if [ -n "$java" ]; then
        java=$(readlink -f "$java" 2>/dev/null || printf '%s' "$java")
        if jdk_at "$(dirname "$(dirname "$java")")"; then
            return
        fi
    fi
    if [ -x /usr/libexec/java_home ]; then
        home=$(/usr/libexec/java_home -v "$wanted" 2>/dev/null || true)
        if [ -n "$home" ] && jdk_at "$home"; then
            return
        fi
    fi
    for home in /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* "${HOME:-/nowhere}"/.jdks/* \
        "${HOME:-/nowhere}"/.sdkman/candidates/java/* /Library/Java/JavaVirtualMachines/*/Contents/Home; do
        if jdk_at "$home"; then
            return
        fi
    done
    return 1
}

if ! jdk=$(find_jdk); then
    echo "$name: no JDK $wanted found in JAVA_HOME, on the PATH or in the usual places;" \
        "install one, for example Eclipse Temurin $wanted, and set JAVA_HOME to it" >&2
    exit 1
fi
