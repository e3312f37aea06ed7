# SPDX-License-Identifier: GPL-2.0-only
# What is around the gates: readings, verdicts, headings. $error and $reason of readings can be words of the system.

read-error = { $path }: { $reason }
arrow = {" "}->{" "}
reason-no-file = no such file
reason-no-file-or-directory = no such file or directory
reason-denied = permission denied
unreadable = { $what } could not be read: { $error }
unreadable-denied-remedy = run tp2-verify as root, which may read { $path }
unreadable-absent-remedy = run tp2-verify on the machine itself, or capture { $path } too
unreadable-other-remedy = look at { $path }; where it is a copy, capture it anew

# Between the parts of a list.
comma = {", "}
semicolon = {"; "}
and = {" and "}

# The table. Names of gates, statuses and verdicts are not translated.
evidence = { $source }: { $value }
label-remedy = do:{" "}
heading-host = host, kernel { $kernel }
heading-host-unknown = host, kernel unknown
heading-gpu = gpu { $gpu } { $id }
heading-gpu-unknown = gpu { $gpu }
heading-pair = pair { $a } { $b }: { $verdict }
verdict = verdict: { $verdict } - { $meaning }
root-would-add = as root it would also read { $what }
root-would-add-acs = whether bridges redirect peer traffic (ACS words of configuration space)
root-would-add-pairs = the kernel's own answers, as the module saw them (/sys/kernel/debug/tp2_p2pdma/pairs)

verdict-verified = every gate passes, and bytes were compared on this boot
verdict-ready = every gate of this version passes; bytes were not compared, and nothing in this version compares them: compare them by other means, both ways, before trusting the route
verdict-module-not-needed = the kernel allows peer access by itself; tp2_p2pdma is not needed; bytes were not compared, and nothing in this version compares them
verdict-module-will-help = as far as this version can see, only the kernel's host-bridge test is in the way, and tp2_p2pdma overrides that test; whether bytes then arrive is not known before they are compared
verdict-blocked = something is in the way that loading tp2_p2pdma would not remove, or not by itself
verdict-ineffective = tp2_p2pdma is there, but does not act
verdict-unsafe = peer access is on over a route that is known to corrupt data silently, or that nobody vouches for
verdict-write-only = peer writes arrive, peer reads do not
verdict-inconclusive = what decides is not known
verdict-not-applicable = there is no pair of AMD cards on PCIe to judge

# After the explanation of a gate.
explain-decides = Where it cannot be read, the verdict is inconclusive.
explain-does-not-decide = Where it cannot be read, the verdict does not wait for it.
between-sentences = {" "}

# Around docs/gates.md.
page-title = Gates
page-introduction = What `tp2-verify` looks at, in the order in which gates bite; `tp2-verify explain GATE` prints the same. Made from the sources by `TP2_WRITE=1 cargo test -p tp2-verify --test explain`; do not edit.
