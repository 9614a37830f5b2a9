#!/bin/sh
# Clone the project and run the README's two commands, as a newcomer does on a machine that has only
# python3 and git. Each output line that begins with `newcomer: ` goes into the summary.
set -u
trap 'exit 130' INT
trap 'exit 143' TERM

failed=0

# step NAME COMMAND...: run the command, and print its result.
step() {
  name=$1
  shift
  began=$(date +%s)
  echo "== $name"
  {
    went=ok
    "$@" </dev/null 2>&1 || went="failed ($?)"
    echo "$went" >/tmp/went # a pipe has the status of its end
  } | tee /tmp/said
  went=$(cat /tmp/went)
  [ "$went" = ok ] || failed=1
  took=$(($(date +%s) - began))
  said=$(sed -n -E 's/=//g; /(passed|failed|errors?).* in [0-9]/p' /tmp/said | tail -n 1)
  echo "newcomer: $name $went, $took s$said"
}

cd /root || exit 1
for tool in tmux pip gcc; do
  ! command -v "$tool" >/dev/null || echo "this system is not bare: it has $tool"
done
git clone -q /agentmux.bundle agentmux && cd agentmux || exit 1
echo "== $(sed -n 's/^PRETTY_NAME=//p' /etc/os-release), $(python3 --version), $(git --version)"
step './dev demo' ./dev demo
step './dev test' ./dev test
echo "newcomer: $(tmux -V), $(python3 --version), $(git --version)"
exit "$failed"
