import type { Run, RunAhead, RunStep } from "../../schema/runs/Run.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { formatDuration } from "../terminal/quantities.ts"
import { escapeInline, truncate } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { makeStyler, type Style } from "../terminal/style.ts"

const signs: Readonly<Record<RunStep["status"], readonly [sign: string, style: Style]>> = {
  running: ["•", "cyan"],
  done: ["✓", "green"],
  skipped: ["-", "dim"],
  warn: ["!", "yellow"],
  error: ["✗", "red"]
}

const progressOf = ({ progress, status }: RunStep) => {
  if (progress === undefined || status !== "running" || progress.total === 0) return ""
  const { done, total } = progress
  return ` ${formatBytes(done)} of ${formatBytes(total)} (${Math.floor(100 * done / total)}%)`
}

const timeOf = ({ endedAt, startedAt }: RunStep) => {
  const millis = endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(startedAt)
  return millis >= 1_000 ? ` (${formatDuration(millis)})` : ""
}

/** Formats a step on one line with progress, detail, and durations of a second or more. */
export const formatStep = (step: RunStep, surface: Surface): string => {
  const style = makeStyler(surface)
  const [sign, color] = signs[step.status]
  const words = `${step.step}${progressOf(step)}${step.detail === "" ? "" : `: ${step.detail}`}${timeOf(step)}`
  const text = escapeInline(words)
  return `${style(color, sign)} ${surface.isTerminal ? truncate(text, surface.columns - 3) : text}`
}

/** Kind of a run, or the action on its stack. */
export const describeRunKind = ({ kind, subject }: Pick<Run, "kind" | "subject">): string =>
  kind === "stack" ? subject.action ?? "change" : kind

/** Name of the object that a run changes. */
export const describeRunSubject = ({ subject }: Pick<Run, "subject">): string | undefined =>
  subject.appName ?? subject.projectPath?.split(/[/\\]/).at(-1) ?? subject.remotePath ?? subject.serverName ??
    subject.serverId

/** Describes a run: `deploy of hello`, `restart of ~/containers/hello`. */
export const formatRunLabel = (run: Pick<Run, "kind" | "subject">): string => {
  const subject = describeRunSubject(run)
  return subject === undefined ? describeRunKind(run) : `${describeRunKind(run)} of ${escapeInline(subject)}`
}

/** Describes the run ahead of a queued one: `deploy of hello by ann (01m8…)`. */
export const describeRunAhead = ({ id, requestedBy, ...ahead }: RunAhead): string =>
  `${formatRunLabel(ahead)} by ${escapeInline(requestedBy.name)} (${id})`

export const describeQueuedRun = ({ waitsFor }: Pick<Run, "waitsFor">): string =>
  waitsFor === undefined ? "waiting for its turn" : `waiting for its turn, behind the ${describeRunAhead(waitsFor)}`
