import { Array, Option } from "effect"

/** Description of a release, beside what the server records by itself. */
export interface ReleaseManifest {
  /** Token or `user@machine` of the deploy. */
  readonly by: string
  readonly composeFile: string
  /** The project's health time-out, in milliseconds. */
  readonly healthMillis: Option.Option<number>
  readonly services: ReadonlyArray<{ readonly name: string; readonly runs: boolean }>
  /** Services of which two containers may run at once, as the project declared when it was deployed last. */
  readonly bridged: ReadonlyArray<string>
  /** The names of its files below the remote path, each in one list: `.env` and each `env_file`, and all others. */
  readonly envFiles: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
  /** Files that take room, and are linked where the others are copied. */
  readonly largeFiles: ReadonlyArray<string>
}

const controls = /[\u0000-\u001f\u007f]+/g

/** A release as lines of key and value: the server keeps them as they are. */
export const formatManifest = (manifest: ReleaseManifest): ReadonlyArray<string> => [
  `by\t${manifest.by.replaceAll(controls, " ")}`,
  `compose\t${manifest.composeFile}`,
  ...Option.match(manifest.healthMillis, { onNone: () => [], onSome: (millis) => [`health\t${Math.round(millis)}`] }),
  ...manifest.services.map(({ name, runs }) => `service\t${runs ? "runs" : "rests"}\t${name}`),
  ...manifest.bridged.map((name) => `bridged\t${name}`),
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
    bridged: values("bridged"),
    envFiles: values("env"),
    files: values("file"),
    largeFiles: values("large")
  }
}

/** Start of an activation's standard input: the size of the text in bytes, a line break, and the text. */
export const buildManifestInput = (lines: ReadonlyArray<string>): string => {
  const text = `${lines.join("\n")}\n`
  return `${new TextEncoder().encode(text).length}\n${text}`
}
