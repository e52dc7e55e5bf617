import { Array, Predicate } from "effect"
import type { ForeignContainer } from "../../remote/deploy.ts"
import { containerConfigName } from "../../schema/projects.ts"
import { cut, pluralize } from "../../schema/words.ts"
import type { ComposeFile } from "./compose.ts"
import { interpolate } from "./interpolate.ts"

// Names that Compose gives a stack, and with it its containers, networks, volumes and images.

/** Names of an image that compose gives to a service without `image:`, by its generation. */
interface DefaultNames {
  readonly v1: string
  readonly v2: string
}

/** Project name that `container.json`, `.env` or the compose files set, which compose prefers to the directory's name. */
export const findComposeProjectName = (
  { fileNames, projectName, sources }: Pick<ComposeFile, "fileNames" | "projectName" | "sources">
): string | undefined => {
  if (projectName !== undefined) return projectName
  const called = sources.filter(({ name }) => fileNames.includes(name))
  const names = called.flatMap(({ source: { content }, values }) =>
    Predicate.isRecord(content) && Predicate.isString(content["name"])
      ? [interpolate(content["name"], values).text]
      : []
  )
  return called[0]?.values.get("COMPOSE_PROJECT_NAME") || names.at(-1)
}

/** Name of a project with the letters that compose takes: others are left out. */
const cleanName = (name: string) => name.toLowerCase().replaceAll(/[^-_a-z0-9]/g, "").replace(/^[_-]+/, "")

/** Names that the generations of compose give to the image of a service without `image:`. */
export const formatDefaultNames = (project: string, service: string): DefaultNames => {
  const clean = cleanName(project)
  return { v1: `${clean}_${service}:latest`, v2: `${clean}-${service}:latest` }
}

/** Name of the stack at a remote path, unless the project sets one. */
export const projectNameAt = (remotePath: string): string =>
  remotePath.replace(/(?<!\/)\/+$/, "").split("/").at(-1) ?? ""

const segments = (path: string) => path.split("/").filter((segment) => segment !== "")

/** A name that the stack at a remote path could have instead of that of its directory: that of the directory above before it. */
const suggestName = (remotePath: string): string => {
  const [above = "", name = ""] = segments(remotePath).slice(-2).map(cleanName)
  return above === "" || above === "containers" || name === "" ? `${name || above || "stack"}-2` : `${above}-${name}`
}

const mostNamed = 5

const listContainers = (containers: ReadonlyArray<ForeignContainer>): string => {
  const names = containers.slice(0, mostNamed).map(({ container }) => cut(container)).join(", ")
  return containers.length > mostNamed ? `${names} and ${containers.length - mostNamed} more` : names
}

/** Containers of stacks in other directories that have the name of a stack, as a reason not to deploy it; undefined without any. */
export const describeForeignContainers = (
  foreign: ReadonlyArray<ForeignContainer>,
  { remotePath, server }: { readonly remotePath: string; readonly server: string }
): string | undefined => {
  const [first] = foreign
  if (first === undefined) return undefined
  const byDirectory = Object.entries(Array.groupBy(foreign, ({ directory }) => directory))
  const places = byDirectory.slice(0, mostNamed).map(([directory, containers]) =>
    `${listContainers(containers)} in ${cut(directory)}`
  )
  const others = byDirectory.length > mostNamed
    ? `, and in ${pluralize(byDirectory.length - mostNamed, "directory", "directories")} more`
    : ""
  return `another stack on "${server}" has the name of this one, "${cut(first.project)}", so that ` +
    `Compose would take its containers for this one's: ${
      places.join("; ")
    }${others}. Give the newer of them a name of its own, such as ` +
    `"projectName": "${suggestName(remotePath)}" in ${containerConfigName} for this one, or take the other one down ` +
    "there. Volumes go by the name, too: under another one, they are new and empty"
}

/** Warnings about containers in the directory of a stack that belong to stacks of other names: they stay as they are. */
export const describeApartContainers = (apart: ReadonlyArray<ForeignContainer>): ReadonlyArray<string> =>
  Object.entries(Array.groupBy(apart, ({ project }) => project)).map(([project, containers]) => {
    const told = `the directory has containers of another stack, "${cut(project)}", that stay as they are: ` +
      listContainers(containers)
    // Labels are anybody's words: others are no advice to type.
    return /^[a-z0-9][a-z0-9_-]{0,99}$/.test(project)
      ? `${told}. "docker compose -p ${project} down" there removes them, and "projectName": "${project}" in ` +
        `${containerConfigName} deploys to that stack`
      : told
  })
