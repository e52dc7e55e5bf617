import type { Run, RunStep } from "../../schema/Run.ts"
import { bytes, duration } from "../terminal/quantities.ts"
import { fitted, safeText } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { type Style, styled } from "../terminal/style.ts"

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
  return ` ${bytes(done)} of ${bytes(total)} (${Math.floor(100 * done / total)}%)`
}

const timeOf = ({ endedAt, startedAt }: RunStep) => {
  const millis = endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(startedAt)
  return millis >= 1_000 ? ` (${duration(millis)})` : ""
}

/** A step on one line: how far it has come, what it did, and how long it took where that is worth saying. */
export const stepLine = (step: RunStep, surface: Surface): string => {
  const style = styled(surface)
  const [sign, color] = signs[step.status]
  const words = `${step.step}${progressOf(step)}${step.detail === "" ? "" : `: ${step.detail}`}${timeOf(step)}`
  const text = safeText(words)
  return `${style(color, sign)} ${surface.isTerminal ? fitted(text, surface.columns - 3) : text}`
}

const subjectOf = ({ subject }: Pick<Run, "subject">) =>
  subject.appName ?? subject.projectPath?.split(/[/\\]/).at(-1) ?? subject.remotePath ?? subject.serverName ??
    subject.serverId

/** A run in a few words: `deploy of hello`, `restart of ~/containers/hello`. */
export const runWords = (run: Pick<Run, "kind" | "subject">): string => {
  const what = run.kind === "stack" ? run.subject.action ?? "change" : run.kind
  const subject = subjectOf(run)
  return subject === undefined ? what : `${what} of ${safeText(subject)}`
}
