import { Effect, Option } from "effect"
import type { AppRequest } from "../../../schema/applications/Drift.ts"
import { AppNotDeclared, DomainWithoutPort, NoPlatformFile } from "../../../schema/applications/Upsert.ts"
import { type AppPlan, planEntry } from "../../applications/appPlan.ts"
import { findEntry, readPlatformFile } from "../../applications/platformFile.ts"
import { readComposeFile } from "../../projects/compose/composeFile.ts"

/** Upsert step 1: reads the declared entry. The default server is never local, so a domain there needs a port. */
export const readPlan = Effect.fn("readPlan")(function*(
  { appName, projectPath }: AppRequest
) {
  const apps = Option.getOrElse(yield* readPlatformFile(projectPath), () => [])
  if (apps.length === 0) return yield* new NoPlatformFile({ projectPath })
  const declared = findEntry(apps, appName)
  if (Option.isNone(declared)) {
    return yield* new AppNotDeclared({
      projectPath,
      appName: appName ?? "",
      names: apps.map(({ entry }) => entry.name)
    })
  }
  const plan = yield* planEntry(projectPath, declared.value)
  if (Option.isNone(plan.server)) yield* requirePort(plan)
  return { ...plan, service: Option.isNone(plan.service) ? yield* onlyService(projectPath, plan) : plan.service }
})

/** Finds the only service of the project's compose file; none if the file cannot be read. */
const onlyService = (projectPath: string, { buildPack }: AppPlan) =>
  buildPack === "composestack"
    ? Effect.map(Effect.option(readComposeFile(projectPath)), (file) =>
      Option.flatMap(file, ({ services: [first, ...others] }) =>
        first !== undefined && others.length === 0 ? Option.some(first.name) : Option.none()))
    : Effect.succeed(Option.none())

/** Fails for a domain without a port, since a proxy route needs one. */
export const requirePort = ({ domain, name, port }: AppPlan): Effect.Effect<void, DomainWithoutPort> =>
  Option.isSome(domain) && Option.isNone(port)
    ? new DomainWithoutPort({ appName: name, domain: domain.value })
    : Effect.void
