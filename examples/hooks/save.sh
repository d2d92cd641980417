#!/bin/sh
# Save a coding agent's session: its hook for PreCompact, and with --behind for SessionEnd and Stop.
# --behind: an agent that ends waits for a second or so, so the work goes on without it, in a session of its
# own; what went wrong is then in the log. Other options are those of `mnemo hook`.
# Always 0: to these agents 2 means "do not compact" or "do not stop".
event=$(cat)
if [ "${1:-}" != --behind ]; then
    printf '%s' "$event" | mnemo hook save "$@"
    exit 0
fi
shift
umask 077
log=${PGMNEMO_HOOK_LOG:-${XDG_STATE_HOME:-$HOME/.local/state}/mnemo-hooks.log}
{ mkdir -p "$(dirname "$log")" && : >>"$log"; } 2>/dev/null || log=/dev/null
export PGMNEMO_HOOK_SECONDS="${PGMNEMO_HOOK_SECONDS:-300}"
apart=$(command -v setsid || command -v nohup)
printf '%s' "$event" | $apart mnemo hook save "$@" >/dev/null 2>"$log" &
exit 0
