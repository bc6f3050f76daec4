# Sourced by the scripts beside it: a suite and devices in a directory that goes away, and checks that say what they saw.
# Every process is stopped by its own pid.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${CARAVAN_BIN:-$root/.build/release}
work=$(mktemp -d "${TMPDIR:-/tmp}/caravan-it.XXXXXX")
photos=${CARAVAN_PHOTOS:-$root/../shared/data/photos}
declare -A pid_of=()
up_pid= nats= http=

say() { printf '   %s\n' "$*"; }
die() {
  printf '   FAILED: %s\n' "$*" >&2
  tail -n 5 "$work"/*.log "$work"/suite/logs/* 2>/dev/null | cut -c1-300 >&2
  exit 1
}

end() { # PID: asks it to end, and waits
  kill "$1" 2>/dev/null || return 0
  local i
  for i in $(seq 200); do
    case $(ps -o stat= -p "$1" 2>/dev/null) in "" | Z*) return 0 ;; esac
    sleep 0.05
  done
  kill -9 "$1" 2>/dev/null || true
}
reap() { # PID: waits for one of our own that was killed; its end by any other cause is a failure
  local status=0
  wait "$1" 2>/dev/null || status=$?
  [ $status -gt 128 ] || die "process $1 ended by itself, with status $status"
}
# STATUS: what the script ends with; absent: the last command's.
finish() { # [STATUS]
  local status=${1:-$?} device rest
  trap - EXIT
  for device in "${!pid_of[@]}"; do end "${pid_of[$device]}"; done
  [ -z "$up_pid" ] || end "$up_pid"
  rest=$(jobs -pr) # loops of a script that died; they may end just now
  [ -z "$rest" ] || kill $rest 2>/dev/null || :
  [ $status -ne 0 ] && [ -n "${KEEP:-}" ] && echo "   kept: $work" || rm -rf "$work"
  exit $status
}
trap finish EXIT

until_true() { # SECONDS COMMAND...
  local left=$(($1 * 20)); shift
  until "$@" >/dev/null 2>&1; do
    left=$((left - 1)); [ $left -gt 0 ] || return 1
    sleep 0.05
  done
}

start_suite() { # [caravan up's flags...]
  : >"$work/up.out"
  "$bin/caravan" up --dir "$work/suite" "$@" >"$work/up.out" 2>"$work/up.log" </dev/null &
  up_pid=$!
  until_true 30 grep -q '^ready ' "$work/up.out" || die "caravan up did not become ready"
  nats=$(sed -n 's/^ready //p' "$work/up.out" | jq -r .nats)
  http=$(sed -n 's/^ready //p' "$work/up.out" | jq -r .http)
}

enrol() { # USER DEVICE
  "$bin/caravan" device add --user "$1" --name "$2" --out "$work/$2.creds" --dir "$work/suite" >/dev/null
}
start_agent() { # DEVICE [caravan-agent's flags...]
  local device=$1; shift
  "$bin/caravan-agent" --creds "$work/$device.creds" --data "$work/$device" --socket "$work/$device.sock" \
    --nats "$nats" --link "${link:-wifi}" "$@" >>"$work/$device.log" 2>&1 </dev/null &
  pid_of[$device]=$!
  until_true 10 app "$device" status || die "the agent of $device did not start"
}

app() { # DEVICE COMMAND...: as the app in $app_name
  local device=$1; shift
  "$bin/caravan" app --socket "$work/$device.sock" --app "${app_name:-album}" "$@"
}
album() { # DEVICE COMMAND...
  local device=$1 command=$2; shift 2
  "$bin/caravan-album" "$command" --socket "$work/$device.sock" --app album "$@"
}
status_of() { # DEVICE TABLE FIELD
  app "$1" status --json | jq -r --arg t "$2" '.tables[] | select(.table == $t) | .'"$3"
}

make_photos() { # a folder of real photos where there is one, else pictures of our own
  if [ -d "$photos" ]; then cp -r "$photos" "$work/photos" && chmod -R u+w "$work/photos"
  else "$bin/caravan-album" samples "$work/photos"; fi
}
