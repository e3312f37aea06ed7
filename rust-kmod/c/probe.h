/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TP2_PROBE_H
#define TP2_PROBE_H

int tp2_probe_register(void);
void tp2_probe_unregister(void);

#endif
