import { Option } from "effect"
import { type Backup, type BackupTrigger, type BackupVerified, isBackupItemName } from "../schema/backups.ts"
import { makeLineLimit, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { script as backupScript } from "./backups/backup.sh.ts"
import { script as keepCopyScript } from "./backups/keepCopy.sh.ts"
import { script as listScript } from "./backups/listBackups.sh.ts"
import { script as listCopiesScript } from "./backups/listCopies.sh.ts"
import { script as markCopiesScript } from "./backups/markCopies.sh.ts"
import { script as mountsScript } from "./backups/mounts.sh.ts"
import { script as readCopyScript } from "./backups/readCopy.sh.ts"
import { script as restoreScript } from "./backups/restore.sh.ts"
import { script as verifyScript } from "./backups/verifyBackup.sh.ts"
import { script as writeCopyScript } from "./backups/writeCopy.sh.ts"

/** Item of a backup as the server's script reads it. */
export interface PlannedItem {
  readonly name: string
  /** The service that it is dumped in, or the volume that is copied. */
  readonly source: { readonly service: string } | { readonly volume: string }
  /** Services that are stopped meanwhile; items with the same ones are of one moment. */
  readonly stop: ReadonlyArray<string>
  readonly allowEmpty: boolean
  readonly dump: ReadonlyArray<string>
  /** Command that proves that the dump on its stdin can be read. */
  readonly check: ReadonlyArray<string>
  readonly restore: ReadonlyArray<string>
  /** True if its service is started again after a restore. */
  readonly restarts: boolean
}

const controls = /[\u0000-\u001f\u007f]+/g
const words = (key: string, name: string, command: ReadonlyArray<string>) =>
  command.map((word) => `${key}\t${name}\tx${word}`)

/**
 * Lines of a backup's plan, which the script reads.
 * @param notes lines of the backup's own manifest
 * @param keep number of backups that remain; undefined keeps all
 */
export const formatBackupPlan = (
  items: ReadonlyArray<PlannedItem>,
  notes: ReadonlyArray<string>,
  keep: number | undefined
): ReadonlyArray<string> => [
  ...items.flatMap(({ allowEmpty, check, dump, name, source, stop }) => [
    [
      "item",
      name,
      ..."service" in source ? ["exec", source.service] : ["volume", source.volume],
      stop.length === 0 ? "-" : [...new Set(stop)].sort().join(","),
      allowEmpty ? "yes" : "no"
    ].join("\t"),
    ...words("word", name, dump),
    ...words("check", name, check)
  ]),
  ...notes.map((line) => `note\t${line}`),
  ...keep === undefined ? [] : [`keepBackups\t${keep}`]
]

/** Notes about the caller and the items, by which a later restore needs no project. */
export const formatBackupNotes = (by: string, definition: string): ReadonlyArray<string> => [
  `by\t${by.replaceAll(controls, " ")}`,
  `definition\t${definition}`
]

/** Takes a backup of a stack; it runs to its end by itself. */
export const backupCommand = (
  remotePath: string,
  trigger: BackupTrigger,
  run: string,
  plan: ReadonlyArray<string>,
  sudo: boolean
): RemoteCommand => ({
  what: "taking a backup",
  script: backupScript,
  args: [remotePath, trigger, run],
  stdin: `${plan.join("\n")}\nplan\tend`,
  sudo
})

/** Result of taking a backup. */
export interface TakenBackup {
  /** Its number; none if there was nothing to keep yet. */
  readonly id: Option.Option<string>
  readonly taken: ReadonlyArray<{ readonly name: string; readonly bytes: number; readonly seconds: number }>
  /** Items that are not there yet, and remarks about the others, in words. */
  readonly remarks: ReadonlyArray<string>
  readonly dropped: ReadonlyArray<string>
  /** Reason for a failure; empty if there is none. */
  readonly why: string
}

/** Parses the answer of a backup. */
export const parseTaken = (lines: ReadonlyArray<string>): TakenBackup => {
  const rows = lines.map((line) => line.split("\t"))
  const of = (key: string) => rows.flatMap(([label, ...rest]) => label === key ? [rest] : [])
  return {
    id: Option.fromNullable(of("backup")[0]?.[0]),
    taken: of("taken").map(([name = "", bytes, seconds]) => ({
      name,
      bytes: Number(bytes) || 0,
      seconds: Number(seconds) || 0
    })),
    remarks: [...of("skipped"), ...of("remark")].map(([name = "", ...reason]) => `${name}: ${reason.join(" ")}`),
    dropped: of("dropped").map(([id = ""]) => id),
    why: of("why").map((rest) => rest.join(" ")).join(" ").trim()
  }
}

/** Lists the backups of a stack. */
export const listBackupsCommand = (remotePath: string): RemoteCommand => ({
  what: "listing the backups",
  script: listScript,
  args: [remotePath],
  sudo: false,
  limit: makeLineLimit(16, 200_000)
})

/** A backup as its server describes it. */
export interface RemoteBackup extends Omit<Backup, "onServer"> {
  /** Lines of its manifest, without those about its copies. */
  readonly manifest: ReadonlyArray<string>
  /** Its items as they were declared, as JSON; empty if unknown. */
  readonly definition: string
  readonly seconds: ReadonlyMap<string, number>
  /** Docker's name of the volume of each item that is one. */
  readonly volumes: ReadonlyMap<string, string>
}

/** Backups at a remote path, newest first, and what else a plan needs. */
export interface RemoteBackups {
  readonly backups: ReadonlyArray<RemoteBackup>
  readonly releases: ReadonlyArray<{ readonly id: string; readonly at: string }>
  readonly freeKiB: number
  /** Services that a backup has left stopped. */
  readonly stopped: ReadonlyArray<string>
}

const triggers: ReadonlyArray<string> = ["deploy", "request", "schedule", "restore"] satisfies ReadonlyArray<
  BackupTrigger
>
const isTrigger = (text: string): text is BackupTrigger => triggers.includes(text)

const aboutCopy = /^(?:copy\t|end$)/

/** Parses the manifest of a backup. */
export const parseManifest = (id: string, lines: ReadonlyArray<string>): RemoteBackup => {
  const rows = lines.map((line) => line.split("\t"))
  const of = (key: string) => rows.flatMap(([label, ...rest]) => label === key ? [rest] : [])
  const value = (key: string) => of(key)[0]?.join("\t") ?? ""
  const trigger = value("trigger")
  return {
    id,
    manifest: lines.filter((line) => line !== "" && !aboutCopy.test(line)),
    release: value("release") === "" ? null : value("release"),
    takenAt: value("at"),
    by: value("by"),
    trigger: isTrigger(trigger) ? trigger : "request",
    items: of("data").flatMap(([name = "", , bytes, sha256 = ""]) =>
      // A name becomes part of a path.
      isBackupItemName(name) ? [{ name, bytes: Number(bytes) || 0, sha256 }] : []
    ),
    copies: of("copy").map(([to = "", state]) => ({ to, verified: state === "verified" })),
    definition: value("definition"),
    seconds: new Map(of("data").map(([name = "", , , , seconds]) => [name, Number(seconds) || 0])),
    volumes: new Map(of("volume").map(([name = "", volume = ""]) => [name, volume]))
  }
}

/** Splits a list of manifests, each after a line with its name, from what follows. */
const parseManifests = (output: string, head: RegExp) => {
  const lines = output.split("\n")
  const rest = lines.indexOf("rest")
  const end = rest < 0 ? lines.length : rest
  const manifests: Array<{ readonly name: string; readonly lines: Array<string> }> = []
  for (const line of lines.slice(0, end)) {
    const [, name] = head.exec(line) ?? []
    if (name === undefined) manifests.at(-1)?.lines.push(line)
    else manifests.push({ name, lines: [] })
  }
  const rows = lines.slice(end).map((line) => line.split("\t"))
  const free = rows.find(([label]) => label === "free")?.[1]
  return {
    manifests,
    rows,
    freeKiB: free === undefined || !/^\d+$/.test(free) ? Number.POSITIVE_INFINITY : Number(free)
  }
}

/** Parses the answer of `listBackupsCommand`. */
export const parseBackups = (output: string): RemoteBackups => {
  const { freeKiB, manifests, rows } = parseManifests(output, /^backup\t(\d+)$/)
  return {
    backups: manifests.map(({ lines, name }) => parseManifest(name, lines)).toSorted((one, other) =>
      Number(other.id) - Number(one.id)
    ),
    releases: rows.flatMap(([label, id = "", at = ""]) => label === "release" ? [{ id, at }] : []),
    freeKiB,
    stopped: rows.flatMap(([label, service = ""]) => label === "stopped" ? [service] : [])
  }
}

/** Directory of the backups of a stack. */
export const locateBackups = (remotePath: string): string => `${remotePath}/.berth/backups`

/** File of an item in the directory of its backup. */
export const nameItemFile = (item: string): string => `${item}.gz`

/** Compares the files of a backup, or of a copy, with their hashes. */
export const verifyBackupCommand = (root: string, name: string, items: Backup["items"]): RemoteCommand => ({
  what: `reading backup ${name}`,
  script: verifyScript,
  args: [root, name],
  stdin: items.map(({ bytes, name, sha256 }) => `${[name, nameItemFile(name), bytes, sha256].join("\t")}\n`).join(""),
  sudo: false
})

const isState = (text: string | undefined): text is "whole" | "changed" | "missing" =>
  text === "whole" || text === "changed" || text === "missing"

/** Judges a backup by its items; one without any is not whole. */
export const toVerified = (items: BackupVerified["items"]): BackupVerified => ({
  whole: items.length > 0 && items.every(({ state }) => state === "whole"),
  items
})

/** Parses the answer of `verifyBackupCommand`; what it does not tell of an item is that it is missing. */
export const parseVerified = (output: string, wanted: Backup["items"]): BackupVerified => {
  const told = new Map(
    output.split("\n").flatMap((line) => {
      const [state, name = ""] = line.split("\t")
      return isState(state) ? [[name, state] as const] : []
    })
  )
  return toVerified(wanted.map(({ name }) => ({ name, state: told.get(name) ?? "missing" })))
}

const copyCommand = (what: string, script: string, ...args: ReadonlyArray<string>): RemoteCommand => ({
  what,
  script,
  args,
  sudo: false
})

/** Lists the copies in a directory of a server. */
export const listCopiesCommand = (root: string): RemoteCommand => ({
  ...copyCommand("listing the copies of backups", listCopiesScript, root),
  limit: makeLineLimit(16, 200_000)
})

/** Parses the answer of `listCopiesCommand`: names and manifests, and the KiB that are free there. */
export const parseCopies = (output: string) => {
  const { freeKiB, manifests } = parseManifests(output, /^copy\t(\d+-\d{8}T\d{6}Z)$/)
  return { manifests, freeKiB }
}

/** Prints a file of a backup, or of a copy. */
export const readCopyCommand = (root: string, name: string, file: string): RemoteCommand =>
  copyCommand(`reading ${file} of backup ${name}`, readCopyScript, root, name, file)

/** Stores its input as a file of a copy, which is listed once it has its manifest. */
export const writeCopyCommand = (root: string, name: string, file: string): RemoteCommand =>
  copyCommand(`writing ${file} of backup ${name}`, writeCopyScript, root, name, file)

/** Lists a copy whose files are written, and removes those that are outdated. */
export const keepCopyCommand = (
  root: string,
  name: string,
  manifest: ReadonlyArray<string>,
  outdated: ReadonlyArray<string>
): RemoteCommand => ({
  ...copyCommand(`keeping the copy of backup ${name}`, keepCopyScript, root, name, ...outdated),
  stdin: [...manifest, "end", ""].join("\n")
})

/** Notes the copies of a backup in its manifest. */
export const markCopiesCommand = (remotePath: string, id: string, copies: Backup["copies"]): RemoteCommand => ({
  ...copyCommand(`noting the copies of backup ${id}`, markCopiesScript, remotePath, id),
  stdin: copies.map(({ to, verified }) => `copy\t${to.replaceAll(controls, " ")}\t${verified ? "verified" : "failed"}`)
    .join("\n")
})

/** Lists the running services of a stack with the volumes that they mount. */
export const mountsCommand = (remotePath: string, sudo: boolean): RemoteCommand => ({
  what: "listing the volumes in use",
  script: mountsScript,
  args: [remotePath],
  sudo
})

/** Parses the answer of `mountsCommand`. */
export const parseMounts = (output: string) =>
  output.split("\n").flatMap((line) => {
    const [service = "", ...volumes] = line.split(" ")
    return service === "" ? [] : [{ service, volumes }]
  })

/** Lines of a restore's plan, beside those of the backup of what it replaces. */
export const formatRestorePlan = (
  items: ReadonlyArray<PlannedItem>,
  stopExec: ReadonlyArray<string>,
  stopVolume: ReadonlyArray<string>
): ReadonlyArray<string> => [
  ...items.flatMap(({ name, restarts, restore, source }) => [
    [
      "restore",
      name,
      ..."service" in source ? ["exec", source.service] : ["volume", source.volume],
      restarts ? "yes" : "no"
    ].join("\t"),
    ...words("rword", name, restore)
  ]),
  ...stopExec.length === 0 ? [] : [`stopExec\t${stopExec.join(",")}`],
  ...stopVolume.length === 0 ? [] : [`stopVolume\t${stopVolume.join(",")}`]
]

/** Puts the data of a backup back; it ends or undoes it by itself. */
export const restoreCommand = (
  remotePath: string,
  backup: string,
  run: string,
  discard: boolean,
  plan: ReadonlyArray<string>,
  sudo: boolean
): RemoteCommand => ({
  what: `restoring backup ${backup}`,
  script: restoreScript,
  args: [remotePath, backup, run, discard ? "yes" : "no"],
  stdin: `${plan.join("\n")}\nplan\tend`,
  sudo
})

/** Parses the answer of a restore. */
export const parseRestored = (lines: ReadonlyArray<string>) => {
  const values = (key: string) =>
    lines.flatMap((line) => line.startsWith(`${key}\t`) ? [line.slice(key.length + 1)] : [])
  return {
    kept: Option.fromNullable(values("kept")[0]),
    restored: values("restored"),
    state: values("state")[0] ?? "",
    why: values("why").join(" ").trim()
  }
}
