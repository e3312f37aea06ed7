# SPDX-License-Identifier: GPL-2.0-only
# 各关卡之外的文字：读取、结论、标题。读取的 $error 与 $reason 可能是系统给出的原文。

read-error = { $path }：{ $reason }
arrow = {" "}->{" "}
reason-no-file = 没有这个文件
reason-no-file-or-directory = 没有这个文件或目录
reason-denied = 权限不够
unreadable = 无法读取{ $what }：{ $error }
unreadable-denied-remedy = 请以 root 身份运行本工具，root 可以读取 { $path }
unreadable-absent-remedy = 请在这台机器上直接运行本工具，或者把 { $path } 也一并采集
unreadable-other-remedy = 请检查 { $path }；如果它是副本，请重新采集

# 列表各项之间。
comma = {"、"}
semicolon = {"；"}
and = {" 和 "}

# 表格。关卡名、状态词和结论词不翻译。
evidence = { $source }：{ $value }
label-remedy = 做法：
heading-host = 主机，内核 { $kernel }
heading-host-unknown = 主机，内核未知
heading-gpu = GPU 设备 { $gpu } { $id }
heading-gpu-unknown = GPU 设备 { $gpu }
heading-pair = GPU 对 { $a } { $b }：{ $verdict }
verdict = 结论：{ $verdict } - { $meaning }
root-would-add = 以 root 身份运行还能读到：{ $what }
root-would-add-acs = 各桥是否重定向对等流量（配置空间里的 ACS 字）
root-would-add-pairs = 模块记录下的内核自己的答复（/sys/kernel/debug/tp2_p2pdma/pairs）

verdict-verified = 所有关卡都通过，并且本次启动后比对过数据
verdict-ready = 本版本的所有关卡都通过；但没有比对过数据，本版本也不做比对：在信任这条路径之前，请用别的办法双向比对
verdict-module-not-needed = 内核本来就允许对等访问，不需要 tp2_p2pdma；没有比对过数据，本版本也不做比对
verdict-module-will-help = 就本版本读到的而言，挡路的只有内核的主机桥检查，tp2_p2pdma 可以覆盖它；数据随后能否正确到达，比对之前无从得知
verdict-blocked = 存在障碍，加载 tp2_p2pdma 不能消除它，或者不能单独消除它
verdict-ineffective = tp2_p2pdma 已经装上，但没有起作用
verdict-unsafe = 对等访问已经打开，走的却是已知会悄悄损坏数据、或者无人担保的路径
verdict-write-only = 对等写能到达，对等读不能
verdict-inconclusive = 起决定作用的信息未知
verdict-not-applicable = 没有可供判断的一对 PCIe AMD 显卡

# 跟在关卡说明之后。
explain-decides = 读不到它时，结论为 inconclusive。
explain-does-not-decide = 读不到它时，不影响得出结论。
between-sentences = {""}

# docs/gates.zh-CN.md 的开头。
page-title = 关卡
page-introduction = `tp2-verify` 检查的各项，按它们起作用的先后排列；`tp2-verify --lang zh explain GATE` 给出同样的说明。本页由 `TP2_WRITE=1 cargo test -p tp2-verify --test explain` 生成，请勿手工修改。
