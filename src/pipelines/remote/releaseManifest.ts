import { Array, Option } from "effect"
import type { ComposeService } from "../projects/composeFile.ts"

/** What a release is, as far as the server cannot tell by itself. */
export interface ReleaseManifest {
  /** Who deploys it. */
  readonly by: string
  readonly composeFile: string
  /** How long its stack may take to get healthy, in milliseconds, where the project says so. */
  readonly healthMillis: Option.Option<number>
  readonly services: ReadonlyArray<Pick<ComposeService, "name" | "runs">>
  /** The names of its files below the remote path, each in one list: `.env` and each `env_file`, and all others. */
  readonly envFiles: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
  /** Files that take room, and are linked where the others are copied. */
  readonly largeFiles: ReadonlyArray<string>
}

const controls = /[\u0000-\u001f\u007f]+/g

/** A release as lines of key and value: the server keeps them as they are. */
export const manifestLines = (manifest: ReleaseManifest): ReadonlyArray<string> => [
  `by\t${manifest.by.replaceAll(controls, " ")}`,
  `compose\t${manifest.composeFile}`,
  ...Option.match(manifest.healthMillis, { onNone: () => [], onSome: (millis) => [`health\t${Math.round(millis)}`] }),
  ...manifest.services.map(({ name, runs }) => `service\t${runs ? "runs" : "rests"}\t${name}`),
  ...manifest.envFiles.map((name) => `env\t${name}`),
  ...manifest.files.map((name) => `file\t${name}`),
  ...manifest.largeFiles.map((name) => `large\t${name}`)
]

/** Reads the lines of `manifestLines`; other lines are passed over. */
export const parseManifest = (lines: ReadonlyArray<string>): ReleaseManifest => {
  const values = (key: string) =>
    lines.flatMap((line) => line.startsWith(`${key}\t`) ? [line.slice(key.length + 1)] : [])
  return {
    by: values("by")[0] ?? "",
    composeFile: values("compose")[0] ?? "",
    healthMillis: Option.filter(Option.map(Array.head(values("health")), Number), Number.isFinite),
    services: values("service").map((value) => {
      const [state, ...name] = value.split("\t")
      return { name: name.join("\t"), runs: state === "runs" }
    }),
    envFiles: values("env"),
    files: values("file"),
    largeFiles: values("large")
  }
}

/** What an activation reads before anything else: the size of the text in bytes, a line break, and the text. */
export const manifestInput = (lines: ReadonlyArray<string>): string => {
  const text = `${lines.join("\n")}\n`
  return `${new TextEncoder().encode(text).length}\n${text}`
}
