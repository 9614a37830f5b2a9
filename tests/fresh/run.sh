#!/bin/sh
# `./dev test-fresh [--again] [--keep] [SUITE...]`: runs the README's commands on bare Debians.
#
# For each suite, it makes a root with only python3 and git (once; then it is cached), copies it, clones
# HEAD into the copy, and runs `./dev demo` and the whole `./dev test` there. Everything runs in its own
# mount and process namespaces. So no mount is left, and no process either, unless this script itself is
# killed by SIGKILL; nothing else on the machine changes. The settings that this machine needs to reach
# the network (pip, apt, certificates) are copied.
#
# Exit codes: 0 all passed; 1 something failed; 2 wrong command line; 6 something is missing here.
set -eu

here=$(cd -- "$(dirname -- "$0")" && pwd -P)
project=$(cd -- "$here/../.." && pwd -P)
cache=${AGENTMUX_FRESH_CACHE:-$project/.cache/fresh-roots}
OURS=.made-by-agentmux-test-fresh
readonly here project OURS

say() { printf '%s\n' "$*" >&2; }

usage() {
  cat <<'USAGE'
usage: ./dev test-fresh [--again] [--keep] [SUITE...]

  SUITE    bookworm, trixie or sid (default: all three)
  --again  make the roots again, without the cache
  --keep   keep the systems in which something failed

AGENTMUX_FRESH_CACHE: folder of the roots and logs (default: .cache/fresh-roots in the project)
AGENTMUX_FRESH_MIRROR: mirror of the packages (default: the mirror of this machine)
USAGE
}

missing() {
  say "error: $1"
  say "hint: $2"
  exit 6
}

require_machine() {
  [ "$(id -u)" -eq 0 ] || missing 'only root can make bare systems' 'sudo ./dev test-fresh'
  for tool in debootstrap unshare git; do
    command -v "$tool" >/dev/null 2>&1 || missing "this machine lacks: $tool" \
      'sudo apt-get install --no-install-recommends debootstrap util-linux git'
  done
  unshare --mount --pid --fork true 2>/dev/null || missing \
    'namespaces are not to be had here: unshare --mount --pid fails' \
    'run it on a machine, or in a container, that may mount'
}

# mirror: print the URL of this machine's own Debian packages; nothing if it is not a Debian.
mirror() {
  if [ -n "${AGENTMUX_FRESH_MIRROR:-}" ]; then
    printf '%s\n' "$AGENTMUX_FRESH_MIRROR"
  elif command -v apt-get >/dev/null 2>&1; then
    apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' 2>/dev/null |
      sed -n '/\/debian\/*$/p' | head -n 1
  fi
}

# make_root SUITE: make a system with python3, git and CA certificates, unless it is in the cache.
make_root() {
  if [ -e "$cache/$1" ]; then
    # A folder that this script has not made is neither used nor removed.
    [ -f "$cache/$1/$OURS" ] || missing "$cache/$1 was not made by ./dev test-fresh" \
      'name another folder: AGENTMUX_FRESH_CACHE=… ./dev test-fresh'
    [ "$again" = yes ] || return 0
  fi
  say "$1: making a bare system (log: $cache/$1.log)"
  making=$cache/.making-$1-$$
  # shellcheck disable=SC2046 # no word, or one
  if ! unshare --mount --pid --fork --kill-child debootstrap --variant=minbase \
    --include=python3,git,ca-certificates "$1" "$making" $(mirror) >"$cache/$1.log" 2>&1; then
    tail -n 5 "$cache/$1.log" >&2
    return 1
  fi
  : >"$making/$OURS"
  rm -rf --one-file-system -- "${cache:?}/$1" && mv -- "$making" "$cache/$1"
}

# network_words: print every word of the caller's settings of pip and of certificates.
network_words() {
  env | sed -n 's/^\(PIP\|SSL\|REQUESTS\|CURL\)_[A-Z_]*=//p' | tr ' ' '\n'
  for file in /etc/pip.conf "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf"; do
    [ ! -f "$file" ] || sed -n 's/^[^#=]*= *//p' "$file" | tr ' ' '\n'
  done
}

# furnish ROOT: copy the network settings of this machine into it; folders are bind-mounted later.
furnish() {
  cp -L --remove-destination /etc/resolv.conf "$1/etc/resolv.conf"
  if command -v apt-config >/dev/null 2>&1; then
    apt-config dump Acquire | grep -E '^Acquire::(https?::|Check-|Retries|ForceIPv)' \
      >"$1/etc/apt/apt.conf.d/90-caller" || :
  fi
  mkdir -p "$1/root/.config/pip" "$1/root/.pip"
  [ ! -f /etc/pip.conf ] || cp -L /etc/pip.conf "$1/etc/pip.conf"
  for file in .config/pip/pip.conf .pip/pip.conf; do
    [ ! -f "$HOME/$file" ] || cp -L "$HOME/$file" "$1/root/$file"
  done
  : >"$1/.folders"
  network_words | sed 's,^file://,,' | sort -u | while IFS= read -r path; do
    case $path in
      /) ;;
      /*)
        if [ -d "$path" ]; then
          # The pages of a package index link to files in the folder above.
          printf '%s\n' "${path%/simple}" >>"$1/.folders"
        elif [ -f "$path" ]; then
          # A link in the new system, such as /var/run, would lead out of it.
          case $(realpath -m -- "$1$path") in
            "$1"/*)
              mkdir -p "$1$(dirname -- "$path")"
              cp -L --remove-destination "$path" "$1$path"
              ;;
            *) say "$path is not copied: a link in the new system leads out of it" ;;
          esac
        fi
        ;;
    esac
  done
  env | grep -E '^(PIP_|SSL_CERT|REQUESTS_CA|CURL_CA|[a-zA-Z]*_proxy=|[A-Z]*_PROXY=)' \
    >"$1/.environment" || :
}

# try SUITE: run the README's commands in a copy of the system; fails if one of them fails.
try() {
  run=$cache/.run-$1-$$
  cp -a --reflink=auto -- "$cache/$1" "$run" || return 1
  furnish "$run" || return 1
  # The repository may belong to another user, so root reads it only to make this bundle.
  git -c safe.directory="$project" -C "$project" bundle create -q "$run/agentmux.bundle" HEAD ||
    return 1
  cp "$here/newcomer.sh" "$run/newcomer.sh" || return 1
  # The child ignores the signals that end this script; `clean` needs its pid to end it.
  unshare --mount --pid --fork --kill-child sh "$here/enter.sh" "$run" &
  echo "$!" >"$cache/.pid-$$"
  wait "$!"
}

# clean: end the run's processes and remove its files; its mounts end with its namespace.
clean() {
  if read -r running <"$cache/.pid-$$"; then
    tries=50
    while [ "$tries" -gt 0 ] && kill -KILL "$running"; do
      sleep 0.1
      tries=$((tries - 1))
    done
  fi 2>/dev/null
  for left in "$cache"/.*-"$$"; do
    [ ! -e "$left" ] || rm -rf --one-file-system -- "$left"
  done
}

main() {
  again=no keep=no suites=''
  for word in "$@"; do
    case $word in
      --again) again=yes ;;
      --keep) keep=yes ;;
      -h | --help) usage && exit 0 ;;
      -*) say "error: unknown option \`$word\`" && usage >&2 && exit 2 ;;
      *[!a-z0-9]*) say "error: unknown suite \`$word\`" && usage >&2 && exit 2 ;;
      *) suites="$suites $word" ;;
    esac
  done
  require_machine
  if [ ! -d "$cache" ]; then
    mkdir -p -- "$cache"
    chmod 700 -- "$cache"
    [ "$cache" != "$project/.cache/fresh-roots" ] || chown --reference="$project" "$project/.cache"
  fi
  cache=$(cd -- "$cache" && pwd -P)
  trap 'clean' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  failed=no summary=''
  for suite in ${suites:-bookworm trixie sid}; do
    one "$suite" || failed=yes
  done
  say ''
  printf '%s' "$summary" >&2
  [ "$failed" = no ]
}

# one SUITE: make its system, try it, and add the result to the summary.
one() {
  if ! make_root "$1"; then
    summary="$summary$1: no system could be made ($cache/$1.log)
"
    return 1
  fi
  log=$cache/$1-run.log
  say "$1: trying it (log: $log)"
  {
    came=0
    try "$1" 2>&1 || came=$?
    echo "$came" >"$cache/.status-$$" # a pipe has the status of its end
  } | tee "$log" >&2
  status=$(cat "$cache/.status-$$")
  said=$(sed -n 's/^newcomer: //p' "$log" | tr '\n' ';')
  if [ "$status" -eq 0 ]; then
    summary="$summary$1: passed: $said
"
    rm -rf --one-file-system -- "$cache/.run-$1-$$"
    return 0
  fi
  summary="$summary$1: FAILED: $said log: $log
"
  if [ "$keep" = yes ]; then
    kept=$cache/failed-$1
    rm -rf --one-file-system -- "$kept"
    mv -- "$cache/.run-$1-$$" "$kept"
    # Network settings may contain passwords.
    : >"$kept/.environment"
    rm -rf -- "$kept/root/.config/pip" "$kept/root/.pip" "$kept/etc/pip.conf"
    summary="$summary  look around: unshare --mount --pid --fork sh '$here/enter.sh' '$kept' sh
"
  fi
  rm -rf --one-file-system -- "$cache/.run-$1-$$"
  return 1
}

main "$@"
