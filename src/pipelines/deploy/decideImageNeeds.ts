import { Option } from "effect"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import { isImageName } from "../../remote/isImageName.ts"
import { normalizeImageName } from "../../remote/normalizeImageName.ts"
import type { PullPolicy } from "../../schema/deploy/Deploy.ts"
import { containerConfigName } from "../../schema/projects/Project.ts"
import { cut, quoteInput } from "../../schema/words/quoted.ts"
import type { ImageArchive } from "../archive/imageArchive.ts"
import { listArchiveNames } from "../archive/transfer.ts"
import type { DeployPlan } from "./planDeploy.ts"

/** Images of a stack that come neither from its archive nor from a build on the server. */
export interface ImageNeeds {
  /** Images that the server has to pull from their registries before the stack can start. */
  readonly toPull: ReadonlyArray<string>
  /** Reasons why the stack cannot start without further images. */
  readonly preflightFailures: ReadonlyArray<string>
  /** Preflight failures caused by the project's compose file. */
  readonly projectFailures: ReadonlyArray<string>
}

/** Tests for images of the archive; an unreadable archive may contain any image. */
const isFromArchive = (plan: DeployPlan, archive: Option.Option<ImageArchive>) => {
  const names = new Set(
    Option.match(archive, { onNone: () => [], onSome: listArchiveNames }).map(({ name }) => normalizeImageName(name))
  )
  const isUnreadable = plan.archive !== undefined && Option.isNone(archive)
  return (image: string) => isUnreadable || names.has(normalizeImageName(image))
}

/** True when files of the directory that a service is built from are sent; true also if that cannot be known. */
const bringsContext = (context: string | undefined, { files }: DeployPlan) =>
  context === undefined ||
  files.some(({ name }) => context === "." ? /(?:^|\/)Dockerfile[^/]*$/.test(name) : name.startsWith(`${context}/`))

/** Services that compose would build on the server from a directory that is not sent there. */
const findLackingBuilds = (
  plan: DeployPlan,
  { composeKind, composeVersion }: Pick<ServerFacts, "composeKind" | "composeVersion">,
  server: string
) =>
  plan.compose.services.flatMap(({ buildContext, builds, image, name, runs }) => {
    if (!builds || !runs || bringsContext(buildContext, plan)) return []
    const about =
      `the service ${name} in ${plan.compose.fileName} has "build: ${cut(buildContext ?? "")}", which is not ` +
      "among the files that are sent"
    const mend = `Remove "build" there, or send the directory: "files" in ${containerConfigName}`
    if (image === undefined) {
      return [`${about}, and no image: name one, and bring it with berth deploy --build. ${mend}`]
    }
    // Compose 2 looks for the directory only when the image is missing.
    return composeKind === "v1" ? [`${about}: docker-compose ${composeVersion} on "${server}" refuses it. ${mend}`] : []
  })

/** Decides which images a server pulls for a stack, and which it lacks and must not pull. */
export const decideImageNeeds = (
  plan: DeployPlan,
  archive: Option.Option<ImageArchive>,
  facts: Pick<ServerFacts, "composeKind" | "composeVersion" | "imageIds">,
  policy: PullPolicy,
  server: string
): ImageNeeds => {
  const { imageIds } = facts
  const isArchived = isFromArchive(plan, archive)
  const running = plan.compose.services.filter(({ builds, runs }) => runs && !builds)
  const nameless = running.filter(({ image }) => image === undefined)
    .map(({ name }) => `the service ${name} in ${plan.compose.fileName} has neither an image nor a build`)
  const wanted = [...new Set(running.flatMap(({ image }) => image === undefined ? [] : [image]))]
    .filter((image) => !isArchived(image))
  const userOf = (image: string) => running.find((service) => service.image === image)?.name ?? ""
  const unusable = wanted.filter((image) => !isImageName(image)).map((image) =>
    `the image ${quoteInput(image)} of the service ${
      userOf(image)
    } in ${plan.compose.fileName} is not a name of an image: ` +
    "check the variables in it"
  )
  const usable = wanted.filter(isImageName)
  const missing = usable.filter((image) => !imageIds.has(image))
  const refused = policy !== "never" ? [] : missing.map((image) =>
    (plan.archive === undefined
      ? `the project has no image archive (*.tar), and "${server}" has no image ${image}: build the archive first`
      : `"${server}" has no image ${image}, and ${plan.archive.name} does not hold it: build the archive with it`) +
    ", or let the server pull it (deploy.pull is never)"
  )
  const unbuilt = findLackingBuilds(plan, facts, server)
  return {
    toPull: policy === "never" ? [] : policy === "always" ? usable : missing,
    preflightFailures: [...nameless, ...unusable, ...unbuilt, ...refused],
    projectFailures: [...nameless, ...unusable, ...unbuilt]
  }
}
