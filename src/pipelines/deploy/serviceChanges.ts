import type { ExistingStack } from "../../remote/deploy/preflightCommand.ts"
import { normalizeImageName } from "../../remote/normalizeImageName.ts"
import type { PlannedService } from "../../schema/deploy/ContainerPlan.ts"
import type { ComposeService } from "../projects/compose/composeFile.ts"
import { parseServiceDefinitions } from "../projects/compose/serviceDefinitions.ts"
import type { DeployDecision } from "./DeployDecision.ts"
import { predictImageIds, unknownImage } from "./imageChanges.ts"

/** Inputs for comparing services, apart from the decision. */
export interface ServiceSources {
  /** Texts of the compose file and `.env` to run; empty if missing. */
  readonly compose: string
  readonly env: string
  /** Names of files that differ on the server. */
  readonly changedFiles: ReadonlySet<string>
}

/** Planned changes of services, with warnings. */
export interface ServiceChanges {
  readonly services: ReadonlyArray<PlannedService>
  readonly warnings: ReadonlyArray<string>
}

/** Version of a stack to run, with the deployed state. */
export interface NextVersion {
  readonly services: ReadonlyArray<
    Pick<ComposeService, "envFiles" | "name" | "runs"> & { readonly image?: string | undefined }
  >
  /** Name of its compose file. */
  readonly fileName: string
  /** Image ids by full name, once it runs. */
  readonly after: ReadonlyMap<string, string>
  readonly there: ExistingStack
}

/**
 * Decides for each service as compose does. Compose recreates its containers if its definition, one of its env files or
 * its image differs.
 */
export const decideServiceChanges = (
  { after, fileName, services: wanted, there }: NextVersion,
  { changedFiles, compose, env }: ServiceSources
): ServiceChanges => {
  const [here, before] = [parseServiceDefinitions(compose, env), parseServiceDefinitions(there.compose, there.env)]
  const containersOf = (name: string) => there.containers.filter(({ service }) => service === name)
  const isOther = (name: string, image: string | undefined, envFiles: ReadonlyArray<string>) => {
    const text = here.get(name)?.text
    if (text === undefined || text !== before.get(name)?.text) return true
    if (envFiles.some((file) => changedFiles.has(file.replace(/^\.\//, "")))) return true
    const id = image === undefined ? undefined : after.get(normalizeImageName(image))
    return id !== undefined && containersOf(name).some(({ image }) => id === unknownImage || image !== id)
  }
  const services = wanted.flatMap(({ envFiles, image, name, runs }): ReadonlyArray<PlannedService> => {
    const exists = containersOf(name).length > 0
    if (here.get(name)?.isScaledToZero === true) return exists ? [{ name, change: "remove" }] : []
    if (!exists) return runs ? [{ name, change: "create" }] : []
    return [{ name, change: runs && isOther(name, image, envFiles) ? "recreate" : "keep" }]
  })
  const own = new Set(wanted.map(({ name }) => name))
  const others = [...new Set(there.containers.map(({ service }) => service))].filter((name) => !own.has(name)).sort()
  return {
    services: [...services, ...others.map((name): PlannedService => ({ name, change: "keep" }))],
    warnings: others.map((name) =>
      `the service ${name} has containers there and is not in ${fileName}: they stay as they are`
    )
  }
}

/** Planned changes of services by a deploy. */
export const planServiceChanges = (
  known: Pick<DeployDecision, "archive" | "facts" | "plan" | "transfer">,
  sources: ServiceSources
): ServiceChanges => {
  const { facts: { there }, plan: { compose: { fileName, services } } } = known
  return decideServiceChanges({ services, fileName, after: predictImageIds(known), there }, sources)
}
