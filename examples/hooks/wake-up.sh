#!/bin/sh
# Wake a coding agent up with what is new and important: its hook for SessionStart, whether it starts, resumes,
# clears or has compacted. Options are those of `mnemo hook`. Always 0: a session starts without its memory, too.
PGMNEMO_HOOK_SECONDS="${PGMNEMO_HOOK_SECONDS:-10}" mnemo hook wake-up "$@"
exit 0
