import { describePlannedBackup, type PlannedBackup } from "./backups.ts"
import {
  type ContainerPlan,
  type DeployResult,
  describeHook,
  describeImageBuild,
  describeKeptData,
  describeRollout,
  hasPlannedChanges
} from "./deploys.ts"
import { hasRollbackChanges, type RollbackPlan } from "./releases.ts"
import type { Run } from "./runs.ts"
import { describeSecret, type PlannedSecret } from "./secrets.ts"
import type { PlannedTarget } from "./targets.ts"
import { escapeText, formatBytes } from "./words.ts"

/** Maximum length of a report in characters: git hosts refuse comments above 65,536. */
export const longestReport = 60_000

/** Formats foreign text as inline code, in which no markup, mention or link is recognized. */
const formatCode = (text: string): string => {
  const line = escapeText(text)
  const runs = [...line.matchAll(/`+/g)].map(([run]) => run.length)
  const fence = "`".repeat(Math.max(0, ...runs) + 1)
  const pad = line === "" || /^[`\s]|[`\s]$/.test(line) ? " " : ""
  return `${fence}${pad}${line}${pad}${fence}`
}

/**
 * Escapes foreign text for Markdown: no markup or HTML is recognized, nor a mention, a reference to an issue or a bare
 * link of a git host. Line ends become spaces.
 */
export const escapeMarkdown = (text: string): string =>
  escapeText(text.replace(/\s+/g, " ").trim())
    .replace(/[\\`*_{}[\]()<>&~|!+-]/g, (sign) => `\\${sign}`)
    .replace(/@|#|:(?=\/\/)|(?<=www)\./gi, (sign) => `${sign}<!-- -->`)

/** Cuts a report to its maximum length, between two lines. */
const limitReport = (lines: ReadonlyArray<string>): string => {
  const text = `${lines.join("\n")}\n`
  if (text.length <= longestReport) return text
  const end = "\n…\n\nThe report is cut here, since it is longer than a comment can be.\n"
  const kept = text.slice(0, longestReport - end.length)
  return kept.slice(0, kept.lastIndexOf("\n")) + end
}

const list = (title: string, items: ReadonlyArray<string>): ReadonlyArray<string> =>
  items.length === 0 ? [] : ["", `**${title}**`, "", ...items.map((item) => `- ${item}`)]

const filterChanged = <A extends { readonly change: string }>(all: ReadonlyArray<A>) =>
  all.filter(({ change }) => change !== "same" && change !== "keep")

const size = (bytes: number) => bytes === 0 ? "" : `, ${formatBytes(bytes)}`

const formatSecret = (secret: PlannedSecret): string =>
  `secret ${formatCode(secret.name)}: ${escapeMarkdown(describeSecret(secret))}`

const listServiceChanges = (services: ContainerPlan["services"]): ReadonlyArray<string> =>
  filterChanged(services).map((service) => {
    const words = describeRollout(service)
    return `service ${formatCode(service.name)}: ${service.change}${words === "" ? "" : `, ${escapeMarkdown(words)}`}`
  })

const listPlanChanges = (plan: ContainerPlan): ReadonlyArray<string> => [
  ...filterChanged(plan.files).map(({ bytes, change, name }) => `file ${formatCode(name)}: ${change}${size(bytes)}`),
  ...filterChanged(plan.images).map((image) => {
    const built = describeImageBuild(image)
    return `image ${formatCode(image.name)}: ${image.change}${size(image.bytesToSend)}${
      built === "" ? "" : `, ${escapeMarkdown(built)}`
    }`
  }),
  ...filterChanged(plan.secrets ?? []).filter(({ change }) => change !== "unknown").map(formatSecret),
  ...listServiceChanges(plan.services)
]

const listPlannedBackups = (backups: ReadonlyArray<PlannedBackup> = []) =>
  list("Backups before it", backups.map((backup) => escapeMarkdown(describePlannedBackup(backup))))

const listPlanLines = (plan: ContainerPlan): ReadonlyArray<string> => {
  const changes = listPlanChanges(plan)
  return [
    ...list("In the way", plan.obstacles.map(escapeMarkdown)),
    ...hasPlannedChanges(plan) ? list("Changes", changes) : ["", "Nothing would change."],
    ...list("Unknown", (plan.secrets ?? []).filter(({ change }) => change === "unknown").map(formatSecret)),
    ...changes.length === 0 ? [] : ["", `${formatBytes(plan.bytesToSend)} to send of ${formatBytes(plan.bytesTotal)}.`],
    ...list("Stays", describeKeptData(plan.references).map(escapeMarkdown)),
    ...listPlannedBackups(plan.backups),
    ...list("Commands", (plan.hooks ?? []).map((hook) => formatCode(describeHook(hook)))),
    ...list("Warnings", plan.warnings.map(escapeMarkdown)),
    "",
    `Plan ${formatCode(plan.planHash)}`
  ]
}

/** Name of a project or stack by its path. */
export const formatPathName = (path: string) => path.split(/[/\\]/).at(-1) ?? path

/** Formats the plan of a deploy as Markdown. Its texts are without secrets, as the endpoint answers them. */
export const formatPlanReport = (plan: ContainerPlan, server = plan.serverId): string => {
  const state = plan.obstacles.length > 0
    ? "cannot be deployed now"
    : hasPlannedChanges(plan)
    ? "would change"
    : "is up to date"
  return limitReport([
    `### ${formatCode(formatPathName(plan.projectPath))} ${state}`,
    "",
    `${formatCode(plan.remotePath)} on ${formatCode(server)}`,
    ...listPlanLines(plan)
  ])
}

/** Formats plans of one project for several servers as Markdown, each with the reason where it cannot be planned. */
export const formatTargetsReport = (
  name: string,
  planHash: string | null,
  targets: ReadonlyArray<PlannedTarget>
): string =>
  limitReport([
    `### ${formatCode(name)} on ${targets.length} servers`,
    ...targets.flatMap(({ error, plan, remotePath, server }) => [
      "",
      `#### ${formatCode(remotePath)} on ${formatCode(server)}`,
      ...plan === null ? ["", escapeMarkdown(error ?? "cannot be planned")] : listPlanLines(plan)
    ]),
    ...planHash === null ? [] : ["", `Plan of all ${formatCode(planHash)}`]
  ])

/** Formats the plan of a rollback as Markdown. */
export const formatRollbackReport = (plan: RollbackPlan, server = plan.serverId): string =>
  limitReport([
    `### ${formatCode(formatPathName(plan.remotePath))} ${
      plan.obstacles.length > 0 ? "cannot be rolled back now" : `would be rolled back to release ${plan.release.id}`
    }`,
    "",
    `${formatCode(plan.remotePath)} on ${formatCode(server)}, release of ${formatCode(plan.release.at)}`,
    ...list("In the way", plan.obstacles.map(escapeMarkdown)),
    ...hasRollbackChanges(plan)
      ? list("Changes", [
        ...filterChanged(plan.files).map(({ change, name }) => `file ${formatCode(name)}: ${change}`),
        ...listServiceChanges(plan.services)
      ])
      : ["", "Nothing would change."],
    ...listPlannedBackups(plan.backups),
    ...plan.restore === undefined ? [] : list("Data that comes back", [
      ...plan.restore.items.map(({ bytes, name }) =>
        escapeMarkdown(`${name} of backup ${plan.restore?.backup.id}, ${formatBytes(bytes)}`)
      ),
      escapeMarkdown(`What was written after ${plan.restore.lost.since} is replaced, and kept as another backup`)
    ]),
    ...list("Warnings", [...plan.warnings, ...plan.restore?.warnings ?? []].map(escapeMarkdown))
  ])

const signs = { healthy: "✅", unhealthy: "⚠️", failed: "❌" } as const

/** Outcome of a deploy in one word: `rolledBack` where the release before runs again. */
export type ReportedOutcome = "healthy" | "unhealthy" | "rolledBack" | "failed"

export const computeOutcome = ({ healthy, success }: Pick<DeployResult, "healthy" | "success">): ReportedOutcome =>
  success ? healthy ? "healthy" : "unhealthy" : "rolledBack"

/** Formats the end of a deploy as Markdown. */
export const formatResultReport = (
  name: string,
  { outcome, message, next = [] }: {
    readonly outcome: ReportedOutcome
    readonly message: string
    readonly next?: ReadonlyArray<string>
  }
): string =>
  limitReport([
    `### ${signs[outcome === "rolledBack" ? "failed" : outcome]} ${formatCode(name)}: ${
      outcome === "rolledBack" ? "rolled back" : outcome
    }`,
    "",
    ...message.split("\n").map(escapeMarkdown),
    ...list("Next", next.map((line) => formatCode(line.trim())))
  ])

/** Formats a run with its steps as Markdown. */
export const formatRunReport = (run: Run): string => {
  const { projectPath, remotePath } = run.subject
  const place = remotePath === undefined ? [] : ["", formatCode(remotePath)]
  return limitReport([
    `### ${run.kind}${projectPath === undefined ? "" : ` of ${formatCode(formatPathName(projectPath))}`}: ${run.state}`,
    ...place,
    "",
    `Requested by ${formatCode(run.requestedBy.name)} at ${run.requestedAt}`,
    ...run.error === null ? [] : ["", escapeMarkdown(run.error.error)],
    ...list(
      "Steps",
      run.steps.map(({ detail, status, step }) =>
        `${formatCode(step)}: ${status}${detail === "" ? "" : `, ${escapeMarkdown(detail)}`}`
      )
    ),
    "",
    `Run ${formatCode(run.id)}`
  ])
}
