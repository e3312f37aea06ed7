# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a fresh Debian system: the agent, and a boot without what a throw-away guest does not need.
set -eu
kernel=$(cat /tp2/kernel)
# A kernel that is not the archive's.
for deb in /tp2/linux-*.deb; do
	[ ! -e "$deb" ] || DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$deb"
done
install -m 755 /tp2/tp2-agent /usr/local/sbin/tp2-agent
cat >/etc/systemd/system/tp2-agent.service <<-'UNIT'
	[Unit]
	Description=Answers the test host on the second serial port

	[Service]
	ExecStart=/usr/local/sbin/tp2-agent

	[Install]
	WantedBy=multi-user.target
UNIT
systemctl enable tp2-agent.service
systemctl mask apt-daily.timer apt-daily-upgrade.timer fstrim.timer e2scrub_all.timer getty@tty1.service
echo '/dev/vda / ext4 defaults 0 1' >/etc/fstab
echo tp2-guest >/etc/hostname
cp "/boot/vmlinuz-$kernel" /tp2/out/vmlinuz
cp "/boot/initrd.img-$kernel" /tp2/out/initrd.img
