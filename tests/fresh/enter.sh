#!/bin/sh
# enter.sh ROOT [COMMAND...]: mount what a system needs, and run COMMAND (newcomer.sh) in it.
# Runs in its own mount and process namespaces.
set -eu
root=$1
shift
[ $# -gt 0 ] || set -- sh /newcomer.sh

mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mkdir -p "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
rm -f "$root/dev/ptmx"
ln -s pts/ptmx "$root/dev/ptmx"

while IFS= read -r folder; do
  mkdir -p "$root$folder"
  mount --bind "$folder" "$root$folder"
  mount -o remount,bind,ro "$root$folder"
done <"$root/.folders"

set -- HOME=/root USER=root LANG=C.UTF-8 TERM=xterm-256color \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  chroot "$root" "$@"
while IFS= read -r setting; do
  set -- "$setting" "$@"
done <"$root/.environment"
exec env -i "$@"
