#!/bin/sh
# Runs an agent's tools and keeps each answer as a node: wrapper.sh STEPS CALLS TOOL...
#
# A step has CALLS calls of TOOL, and one commit. Provenance is set once per step. Whenever it is killed it can be started
# again with the same words: commits that are made, and answers that are staged, are not made again.
set -eu

steps=$1 calls=$2
shift 2
mnem init -q
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

step=1
while [ "$step" -le "$steps" ]; do
    export MNEM_AGENT_STEP="$step" MNEM_OBSERVATION="chat/$step" MNEM_SOURCE="$1"
    if [ -n "$(mnem log --ids -q -n 1 --grep "^step $step\$")" ]; then
        step=$((step + 1))
        continue
    fi
    there=" $(mnem ls -q "step/$step/" | tr '\n' ' ')"
    call=1
    while [ "$call" -le "$calls" ]; do
        id=step/$step/call/$call
        case $there in
        *" $id "*) ;;
        *)
            # A file, not a pipe: a tool that dies in the middle leaves no half of an answer.
            "$@" "$step" "$call" >"$answer"
            MNEM_TOOL_CALL="$step.$call" mnem put -q "$id" -F "$answer" >/dev/null
            ;;
        esac
        call=$((call + 1))
    done
    # Where nothing is staged a commit was made just before the end came.
    mnem commit -q --skip-empty -m "step $step" >/dev/null
    step=$((step + 1))
done
