# SPDX-License-Identifier: Apache-2.0
# For the launchers, which set name (of the command), root (of the clone) and module (to build): finds a JDK 25 and
# sets jdk to its home, target to where the module lies, built if that was missing or older than its sources, and
# classpath. A launcher may define train, which is called at the end of each build.
# shellcheck shell=sh
# Apart from what is built for another module: a jar that is built anew fits the cache of the tools no more.
directory=launcher-$module
target=$root/$module/target/$directory
classpath="$target/$module.jar:$target/lib/*"
. "$root/build/jdk.sh"

. "$root/build/english.sh"

is_built() {
    [ -f "$target/built" ] || return 1
    # Any source or build file that is newer?
    [ -z "$(find "$root" \( -name target -o -name .git \) -prune -o \
        \( -path '*/src/main/*' -o -name pom.xml \) -type f -newer "$target/built" -print | head -n 1)" ]
}

# The lock is a link that leads to its owner's process id, so it is made, with that, in one step.
lock=$root/target/build.lock

is_alive() {
    kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ] || ps -p "$1" >/dev/null 2>&1
}

lock_build() {
    mkdir -p "$root/target"
    said=
    until ln -s "$$" "$lock" 2>/dev/null; do
        owner=$(readlink "$lock" || true)
        if [ -z "$owner" ]; then
            # Released at this moment; or it can never be made.
            if [ ! -w "$root/target" ]; then
                echo "$name: nothing can be written in $root/target, so nothing can be built there" >&2
                exit 1
            fi
        elif [ "$owner" = "$$" ] || ! is_alive "$owner"; then
            # Left by a process that was killed. Only one at a time may take it away, and looks again first.
            if mkdir "$lock.stale" 2>/dev/null; then
                [ "$(readlink "$lock" || true)" != "$owner" ] || rm -f "$lock"
                rmdir "$lock.stale"
            else
                sleep 1
            fi
        else
            if [ -z "$said" ]; then
                echo "$name: waiting for process $owner, which is building ..." >&2
                said=1
            fi
            sleep 1
        fi
    done
    trap 'rm -f "$lock"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

unlock_build() {
    rm -f "$lock"
    trap - EXIT INT TERM HUP
}

# Hands on what Maven says, and tells which module it builds. Fails unless the last line is a word of success.
tell_progress() {
    while IFS= read -r line; do
        printf '%s\n' "$line"
        case $line in
            "[INFO] Building rdma4j-"*"["*"/"*"]")
                words=${line#"[INFO] Building "}
                echo "$name: building ${words%% *} [${line##*[}" >&2
                ;;
        esac
        last=$line
    done
    [ "${last:-}" = "$built_well" ]
}
built_well="$name: built"

build() {
    if ! command -v mvn >/dev/null 2>&1; then
        echo "$name: Maven is needed to build it once; install Maven 3.8 or later" >&2
        exit 1
    fi
    echo "$name: building (once) ..." >&2
    log=$root/target/build.log
    # Of another version, or no dependency any more.
    rm -rf "$target/lib"
    rm -f "$target"/*.jar
    # As old as the start of the build: a source that changes meanwhile is newer. File times are
    # coarse, so the build starts when the clock has moved on.
    touch "$root/target/built"
    until [ "$root/target/clock" -nt "$root/target/built" ]; do
        touch "$root/target/clock"
    done
    rm -f "$root/target/clock"
    if ! { (cd "$root" && JAVA_HOME=$jdk mvn -B -P launcher "-Dlauncher.directory=$directory" -pl "$module" -am package) \
        2>&1 && printf '\n%s\n' "$built_well"; } | tell_progress >"$log"; then
        reason=$(grep '^\[ERROR\] ' "$log" | grep -m 1 -v 'COMPILATION ERROR' || tail -n 1 "$log")
        echo "$name: the build failed: ${reason#\[ERROR\] } (all of it: $log)" >&2
        exit 1
    fi
    if command -v train >/dev/null; then
        train
    fi
    mv "$root/target/built" "$target/built"
}

if ! is_built; then
    lock_build
    # Whoever had the lock before may have built it.
    if ! is_built; then
        build
    fi
    unlock_build
fi
