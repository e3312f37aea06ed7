/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TP2_VERSION_H
#define TP2_VERSION_H

#define TP2_VERSION "0.1.0"

#endif
