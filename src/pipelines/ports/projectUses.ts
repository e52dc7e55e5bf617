import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { hostPortKey } from "../../schema/applications/hostPortKey.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { envValues, parseEnv } from "../projects/compose/envText.ts"
import { projectText } from "../projects/files/projectText.ts"
import { portsIn, type PortUses, together, unreadable, type UsedPort } from "./declaredUses.ts"

const usesOfProject = (root: string) => (name: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const env = yield* projectText(path.join(root, name), ".env")
    const port = Option.match(env, {
      onNone: () => "",
      onSome: (text) => envValues(parseEnv(text)).values.get(hostPortKey) ?? ""
    })
    const uses = portsIn(port).map((number): UsedPort => ({ port: number, kind: "project", what: name }))
    return { uses, unread: [] } satisfies PortUses
  }).pipe(Effect.catchAll(unreadable(`The port of the project ${name} is`)))

/** The ports that the `.env` files directly in the projects name, deployed or not. */
export const projectUses = Effect.gen(function*() {
  const files = yield* LocalFiles
  const root = yield* (yield* Settings).get("projects.root")
  if (Option.isNone(yield* files.find(root))) return { uses: [], unread: [] } satisfies PortUses
  const directories = (yield* files.list(root)).filter(({ kind }) => kind === "directory" || kind === "link")
  const found = yield* Effect.forEach(directories, ({ name }) => usesOfProject(root)(name), { concurrency: 16 })
  return together(found)
}).pipe(Effect.catchAll(unreadable("The projects' ports are")))
