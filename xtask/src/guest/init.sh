#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# PID 1 of the scenario guest: mounts what the kernel shows and starts the agent. Powers off when the agent ends.
/bin/busybox mkdir -p /proc /sys /dev /run /tmp /var/tmp
/bin/busybox --install -s /bin
export PATH=/usr/bin:/bin
mount -t devtmpfs devtmpfs /dev
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
mount -t tmpfs tmpfs /run
exec >/dev/console 2>&1
sh /agent.sh
poweroff -f
