import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { ServerFacts } from "../../remote/deploy.ts"
import type { EnvironmentRequired, EnvironmentUnknown } from "../../schema/environments.ts"
import type { ProjectFileInvalid } from "../../schema/projects.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { isBuiltArchive, nameBuiltImages } from "../archive/builtArchive.ts"
import type { ImageArchive } from "../archive/images.ts"
import type { ComposeService } from "../projects/compose.ts"
import { type BuildSection, findBuildSections } from "../projects/composeBuilds.ts"
import { findComposeProjectName, formatDefaultNames, projectNameAt } from "../projects/stackNames.ts"
import type { DeployPlan } from "./preflight.ts"

/** A plan and its archive, with the names under which the server's compose looks for images that are built. */
interface NamedBuilds {
  readonly plan: DeployPlan
  readonly archive: Option.Option<ImageArchive>
}

/** Services of a plan that are built, and how the generations of compose name their images. */
interface BuiltServices {
  /** Images that the server may have of them, under the names of either generation. */
  readonly possibleImages: ReadonlyArray<string>
  /** Applies the names of a server's compose, once that is known. */
  readonly nameFor: (
    plan: DeployPlan,
    archive: Option.Option<ImageArchive>,
    kind: ServerFacts["composeKind"]
  ) => NamedBuilds
}

/**
 * Reads the services that are built. The generations of compose give other default names to their images: `shop_web`
 * (docker-compose 1.x) and `shop-web`.
 */
export const readBuiltServices = Effect.fn("deploy.readBuiltServices")(function*(
  directory: string,
  plan: DeployPlan,
  remotePath: string,
  environment?: string
): Effect.fn.Return<
  BuiltServices,
  EnvironmentRequired | EnvironmentUnknown | ProjectFileInvalid | LocalFileFailed,
  LocalFiles | Path.Path
> {
  const { archive: file, compose } = plan
  const isNameless = ({ builds, image }: ComposeService) => builds && image === undefined
  const isBuilt = file !== undefined && isBuiltArchive(file)
  const nameless = compose.services.filter(isNameless)
  // A section that cannot be built here has no image here.
  const sections: ReadonlyArray<BuildSection> = isBuilt
    ? yield* findBuildSections(directory, environment).pipe(
      Effect.map(({ sections }) => sections),
      Effect.catchTag("ProjectFileInvalid", () => Effect.succeed([]))
    )
    : []
  const project = nameless.length === 0
    ? ""
    : findComposeProjectName(compose) ?? projectNameAt(remotePath)
  const defaults = new Map(nameless.map(({ name }) => [name, formatDefaultNames(project, name)]))
  const imageFor = (kind: ServerFacts["composeKind"]) => {
    const generation = kind === "v1" ? "v1" : "v2"
    const images = new Map(compose.services.map(({ image, name }) => [name, image ?? defaults.get(name)?.[generation]]))
    return (name: string) => images.get(name)
  }
  return {
    possibleImages: [...defaults.values()].flatMap(({ v1, v2 }) => [v1, v2]),
    nameFor: (plan, archive, kind) => {
      const imageOf = imageFor(kind)
      const named = Option.map(archive, (archive) => isBuilt ? nameBuiltImages(archive, sections, imageOf) : archive)
      const services = compose.services.map((service) => {
        const image = imageOf(service.name)
        return image === undefined ? service : { ...service, image }
      })
      const images = [...new Set(services.flatMap(({ image }) => image === undefined ? [] : [image]))]
      const withNames = { ...plan, compose: { ...compose, services }, images }
      const isUseless = isBuilt && !Option.exists(named, ({ images }) => images.length > 0)
      // An archive that holds nothing of what the compose file says now counts as none.
      return isUseless
        ? { plan: { ...withNames, archive: undefined }, archive: Option.none() }
        : { plan: withNames, archive: named }
    }
  }
})
