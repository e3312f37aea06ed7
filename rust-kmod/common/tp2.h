/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contract between the part that every implementation shares and the
 * implementation itself.
 */
#ifndef TP2_H
#define TP2_H

#include "rules.h"

/* params.c */
extern struct tp2_settings tp2_settings;
extern unsigned int tp2_maxactive;
enum tp2_mode tp2_get_mode(void);
const char *tp2_mode_name(enum tp2_mode mode);

/* pairs.c */
void tp2_pairs_init(void);
void tp2_pairs_exit(void);
void tp2_pairs_record(const struct tp2_address *provider,
		      const struct tp2_address *client, int kernel_answer,
		      int answer, enum tp2_rule rule);

/* state.c */
extern bool tp2_gpu_driver_was_bound;
int tp2_state_init(void);
void tp2_state_exit(void);
void tp2_count(int kernel_answer, int answer);

/* The implementation. */
const char *tp2_self_test(void);
unsigned long tp2_missed(void);

#endif
