#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest: takes one base64 shell script a line from the second serial port, answers with its output and status.
exec 3<>/dev/ttyS1
stty raw -echo <&3
printf 'TP2-AGENT READY\n' >&3
while IFS= read -r line <&3; do
	printf '%s' "$line" | base64 -d >/run/tp2-command
	sh /run/tp2-command >/run/tp2-output 2>&1 </dev/null
	status=$?
	printf 'TP2-AGENT BEGIN\n' >&3
	base64 /run/tp2-output >&3
	printf 'TP2-AGENT END %d\n' "$status" >&3
done
