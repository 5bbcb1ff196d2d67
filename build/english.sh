# SPDX-License-Identifier: Apache-2.0
# For the launchers: has the messages of the system in English.
# shellcheck shell=sh

# What "run" gives back to a program of others, which is to find it as it was.
[ "${1:-}" != run ] || locale=$(export -p | grep -E '^(export|declare -x) (LANG|LC_)' || true)

# Messages of the system have to be those that are documented, and that the JDK's words are compared with. All else, such as
# the encoding of names, stays with the user's locale.
if [ -n "${LC_ALL:-}" ]; then
    LANG=$LC_ALL LC_CTYPE=$LC_ALL
    export LANG LC_CTYPE
    unset LC_ALL
fi
export LC_MESSAGES=C LANGUAGE=
