import { Schema } from "effect"
import { flag, projectPath, strictBody, text, textOrNull } from "./validation.ts"
import { cut, quoteInput } from "./words.ts"

/** A program of a project that runs on Berth's machine, or a link that leads out of the project. */
export const ProjectProgram = Schema.Struct({
  kind: Schema.Literal("script", "imageFile", "build", "hook", "hookFile", "secret", "link").annotations({
    description:
      "`script`: of the build; `imageFile`: it builds the image; `build`: a build: section of the compose file; " +
      "`hook`: a command on Berth's machine; `hookFile`: a file that such a command names; `secret`: a command that prints a " +
      "secret; `link`: leads out of the project."
  }),
  name: text("The file, the hook and its number, the secret, or the link.", "build-image-tar.sh", "afterDeploy 1"),
  detail: textOrNull(
    "The command line of a hook or a secret, the context of a build, or where a link leads to.",
    "/etc/hello/app.conf"
  ),
  state: Schema.Literal("trusted", "changed", "new").annotations({
    description: "`changed`: another version of it was trusted; `new`: none was."
  })
}).annotations({ identifier: "ProjectProgram" })
export interface ProjectProgram extends Schema.Schema.Type<typeof ProjectProgram> {}

/** Project whose programs are shown. */
export const ProgramsRequest = Schema.Struct({ projectPath }).annotations({
  identifier: "ProgramsRequest",
  ...strictBody
})
export interface ProgramsRequest extends Schema.Schema.Type<typeof ProgramsRequest> {}

/** Programs of a project, and whether the machine's user trusts them as they are. */
export const ProjectPrograms = Schema.Struct({
  projectPath,
  digest: text("Stands for the programs as they are; trusting them takes it.", "5891b5b522d5df08"),
  trusted: flag("True when all are trusted as they are, or there are none."),
  programs: Schema.Array(ProjectProgram).annotations({ description: "In the order in which they would be used." })
}).annotations({ identifier: "ProjectPrograms" })
export interface ProjectPrograms extends Schema.Schema.Type<typeof ProjectPrograms> {}

/** Programs to trust: as they were shown. */
export const TrustRequest = Schema.Struct({ projectPath, digest: ProjectPrograms.fields.digest }).annotations({
  identifier: "TrustRequest",
  ...strictBody
})
export interface TrustRequest extends Schema.Schema.Type<typeof TrustRequest> {}

/** Describes a program. Plans list hooks themselves. */
export const describeProgram = ({ detail, kind, name }: ProjectProgram): string =>
  (kind === "link" || kind === "hook" || kind === "secret" || kind === "build" ? `${kind} ${name}` : name) +
  (detail === null ? "" : kind === "link" ? ` leads to ${detail}` : `: ${detail}`)

/** Programs that a deploy uses, but for the hooks, which plans list themselves. */
export const listFurtherPrograms = (programs: ReadonlyArray<ProjectProgram> | undefined) =>
  (programs ?? []).filter(({ kind }) => kind === "hookFile" || kind === "secret" || kind === "link")

const stateWords = { changed: "has changed since it was trusted", new: "is new", trusted: "is trusted" } as const

/** Describes what is not trusted, in at most four parts. */
export const describeUntrusted = (programs: ReadonlyArray<ProjectProgram>): string => {
  const untrusted = programs.filter(({ state }) => state !== "trusted")
  const shown = untrusted.slice(0, 4).map(({ kind, name, state }) =>
    `${kind === "link" || kind === "hook" || kind === "secret" || kind === "build" ? `${kind} ` : ""}${cut(name)} ${
      stateWords[state]
    }`
  )
  return [...shown, ...untrusted.length > 4 ? [`${untrusted.length - 4} more`] : []].join(", ")
}

/** A caller with a token wants a program run, or a link followed, that the machine's user has not trusted. */
export class ProjectNotTrusted extends Schema.TaggedError<ProjectNotTrusted>()("ProjectNotTrusted", {
  path: Schema.String,
  untrusted: Schema.String
}) {
  readonly status = 403
  override get message() {
    return `The user of the service's machine has not trusted ${quoteInput(this.path)} as it is: ${this.untrusted}. ` +
      "Nothing was done. Have it trusted there: berth trust PROJECT"
  }
}

/** Only the machine's own user may trust programs. */
export class TrustForbidden extends Schema.TaggedError<TrustForbidden>()("TrustForbidden", { path: Schema.String }) {
  readonly status = 403
  override get message() {
    return `Only the user of the service's machine may trust the programs of ${
      quoteInput(this.path)
    }, as they run as ` +
      "that user: nothing was changed. Run berth trust PROJECT there"
  }
}

/** A caller with a token writes where programs of the project could read it. */
export class ProjectBeingWritten extends Schema.TaggedError<ProjectBeingWritten>()("ProjectBeingWritten", {
  path: Schema.String
}) {
  readonly status = 409
  override get message() {
    const name = quoteInput(this.path)
    return `A caller with a token pulls files that programs of ${name} could read: nothing was trusted. Let the pull end ` +
      "or cancel it (berth runs), look at the files, and repeat: berth trust PROJECT"
  }
}

/** The programs are others than those that were shown. */
export class ProgramsMoved extends Schema.TaggedError<ProgramsMoved>()("ProgramsMoved", { path: Schema.String }) {
  readonly status = 409
  override get message() {
    return `The programs of ${quoteInput(this.path)} have changed since they were shown: nothing was trusted. ` +
      "Look at them again: berth trust PROJECT"
  }
}
