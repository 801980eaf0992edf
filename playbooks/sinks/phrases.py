"""The words around the numbers of a message, one table for each language."""

from msgspec import Struct

from playbooks.sinks.notice import Locale


class Phrases(Struct, frozen=True, kw_only=True):
    """One language; fields in braces are filled in by `message`."""

    severity: dict[str, str]
    kind: dict[str, str]
    state: dict[str, str]
    outcome: dict[str, str]
    decision: dict[str, str]
    verification: dict[str, str]
    node: str
    rank: str
    more: str
    nobody: str
    where: str
    since: str
    until: str
    cause: str
    next_cause: str
    action: str
    lost: str
    lost_in_all: str
    taint: str
    page: str


ENGLISH = Phrases(
    severity={"info": "INFO", "warning": "WARNING", "error": "ERROR", "critical": "CRITICAL"},
    kind={"opened": "{severity}", "changed": "NOW {severity}", "resolved": "RESOLVED"},
    state={
        "open": "open",
        "acting": "acting",
        "recovering": "recovering",
        "resolved": "resolved",
        "closed": "closed",
    },
    decision={
        "would_act": "would be done (observing only)",
        "asked": "waits for approval",
        "act": "started",
        "refused": "not done",
    },
    outcome={
        "pending": "under way",
        "done": "done",
        "failed": "failed",
        "refused": "refused",
        "rejected": "rejected by a person",
        "expired": "came too late",
    },
    verification={
        "waiting": "being verified",
        "verified": "verified: the job recovered",
        "failed": "the job did not recover",
        "confounded": "cannot be told apart from other changes",
        "no_data": "no data to verify with",
        "expired": "not verified in time",
    },
    node="nodes {names}",
    rank="ranks {names}",
    more="{names} and {count} more",
    nobody="nobody in particular to blame; {ranks} ranks on {nodes} nodes affected",
    where="Job {job}, attempt {attempt}, {state}: {whom}",
    since="Since {step}, {time}",
    until="{since}, until {step}, {time}",
    cause="Cause: {cause} ({confidence} sure)",
    next_cause="; next best: {cause} ({score})",
    action="Action {action} on {target}: {state}",
    lost="Lost so far: {hours} GPU-hours",
    lost_in_all="Lost in all: {hours} GPU-hours",
    taint="Contaminated steps: {begin} to {end}",
    page="Open the incident",
)
CHINESE = Phrases(
    severity={"info": "提示", "warning": "警告", "error": "错误", "critical": "严重"},
    kind={"opened": "{severity}", "changed": "升级为{severity}", "resolved": "已恢复"},
    state={"open": "未处理", "acting": "处置中", "recovering": "恢复中", "resolved": "已恢复", "closed": "已关闭"},
    decision={"would_act": "仅观察，未执行", "asked": "等待批准", "act": "已开始", "refused": "未执行"},
    outcome={
        "pending": "进行中",
        "done": "已完成",
        "failed": "失败",
        "refused": "被拒绝",
        "rejected": "被人工否决",
        "expired": "已过期",
    },
    verification={
        "waiting": "验证中",
        "verified": "已验证：作业恢复",
        "failed": "作业未恢复",
        "confounded": "受其他变化干扰，无法判断",
        "no_data": "缺少验证数据",
        "expired": "未能按时验证",
    },
    node="节点 {names}",
    rank="rank {names}",
    more="{names} 等另外 {count} 个",
    nobody="无特定责任方；影响 {nodes} 个节点上的 {ranks} 个 rank",
    where="作业 {job}，第 {attempt} 次启动，{state}：{whom}",
    since="自 {step}，{time}",
    until="{since}，至 {step}，{time}",
    cause="原因：{cause}（置信度 {confidence}）",
    next_cause="；其次：{cause}（{score}）",
    action="动作 {action}，对象 {target}：{state}",
    lost="目前损失：{hours} GPU 小时",
    lost_in_all="总计损失：{hours} GPU 小时",
    taint="受污染的 step：{begin} 至 {end}",
    page="打开事件页面",
)
LANGUAGES: dict[Locale, Phrases] = {"en": ENGLISH, "zh": CHINESE}
