import type { PlannedService } from "../../../schema/ContainerPlan.ts"
import { serviceDefinitions } from "../../projects/serviceDefinitions.ts"
import { fullImageName } from "../../remote/fullImageName.ts"
import type { Decision } from "../decide.ts"
import { imagesAfter, unknownImage } from "./imageChanges.ts"

/** What decides about services, beside the decision itself. */
export interface ServiceSources {
  /** The texts of the project's compose file and `.env`; empty where it has none. */
  readonly compose: string
  readonly env: string
  /** The names of files that are not the same on the server. */
  readonly changedFiles: ReadonlySet<string>
}

/** What a deploy would do about each service, and what is worth knowing of it. */
export interface ServiceChanges {
  readonly services: ReadonlyArray<PlannedService>
  readonly warnings: ReadonlyArray<string>
}

/**
 * Decides about each service as compose does: it makes new containers where the service is written differently, where
 * an env file of it differs, or where its image is another one.
 */
export const serviceChanges = (
  known: Pick<Decision, "archive" | "facts" | "plan" | "transfer">,
  { changedFiles, compose, env }: ServiceSources
): ServiceChanges => {
  const { facts: { there }, plan } = known
  const after = imagesAfter(known)
  const [here, before] = [serviceDefinitions(compose, env), serviceDefinitions(there.compose, there.env)]
  const containersOf = (name: string) => there.containers.filter(({ service }) => service === name)
  const isOther = (name: string, image: string | undefined, envFiles: ReadonlyArray<string>) => {
    const text = here.get(name)?.text
    if (text === undefined || text !== before.get(name)?.text) return true
    if (envFiles.some((file) => changedFiles.has(file.replace(/^\.\//, "")))) return true
    const wanted = image === undefined ? undefined : after.get(fullImageName(image))
    return wanted !== undefined && containersOf(name).some(({ image }) => wanted === unknownImage || image !== wanted)
  }
  const services = plan.compose.services.flatMap(({ envFiles, image, name, runs }): ReadonlyArray<PlannedService> => {
    const exists = containersOf(name).length > 0
    if (here.get(name)?.isScaledToZero === true) return exists ? [{ name, change: "remove" }] : []
    if (!exists) return runs ? [{ name, change: "create" }] : []
    return [{ name, change: runs && isOther(name, image, envFiles) ? "recreate" : "keep" }]
  })
  const own = new Set(plan.compose.services.map(({ name }) => name))
  const others = [...new Set(there.containers.map(({ service }) => service))].filter((name) => !own.has(name)).sort()
  return {
    services: [...services, ...others.map((name): PlannedService => ({ name, change: "keep" }))],
    warnings: others.map((name) =>
      `the service ${name} has containers there and is not in ${plan.compose.fileName}: they stay as they are`
    )
  }
}
