import { Array, Option } from "effect"

/** Description of a release, in addition to the server's own records. */
export interface ReleaseManifest {
  /** Caller of the deploy: token or `user@machine`. */
  readonly by: string
  readonly composeFile: string
  /** The project's health timeout in milliseconds. */
  readonly healthMillis: Option.Option<number>
  readonly services: ReadonlyArray<{ readonly name: string; readonly runs: boolean }>
  /** Services that may have two running containers at once, as declared by the last deploy. */
  readonly bridged: ReadonlyArray<string>
  /**
   * Names of its files relative to the remote path, each in one list: `.env` and each `env_file` here, all others
   * below.
   */
  readonly envFiles: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
  /** Large files, which are linked instead of copied. */
  readonly largeFiles: ReadonlyArray<string>
}

const controls = /[\u0000-\u001f\u007f]+/g

/** Encodes a release as lines of key and value, which the server stores unchanged. */
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

/** Parses the lines of `manifestLines`; skips other lines. */
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
