import { formatFileProblem, type LocalProject } from "../../schema/projects/Project.ts"
import type { Server } from "../../schema/servers/Server.ts"
import { Icon } from "../ui/Icon.tsx"
import { Failure } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { PrepareProject } from "./PrepareProject.tsx"

/** Missing requirements of a deploy, and the files that Berth can generate. */
export const Unready = (
  { project, servers }: { readonly project: LocalProject; readonly servers: ReadonlyArray<Server> }
) => {
  // A compose file alone runs images of a registry: they are neither built nor sent.
  const isFromRegistry = project.hasComposeFile && !project.hasImageFile && project.tarFile === null
  const absent = isFromRegistry ? "not needed" : "missing"
  const lines: ReadonlyArray<readonly [has: boolean, what: string, without?: string]> = [
    [project.hasComposeFile, "A compose file, which says what runs"],
    [project.hasImageFile, "A Dockerfile or Containerfile, which its image is built from", absent],
    [project.tarFile !== null, "An image archive, which the build of its image makes", absent],
    [
      project.serverId !== null,
      servers.length === 0 ? "A server in container.json: none is stored yet" : "A server in container.json"
    ]
  ]
  return (
    <Panel title="Before its first deploy" note="what is there, and what is missing">
      {(project.problems ?? []).map((problem) => (
        <Failure key={problem.file} error={new Error(formatFileProblem(problem))} />
      ))}
      <ul className="rows">
        {lines.map(([has, what, without = "missing"]) => (
          <li key={what}>
            <span className={has ? "tick" : without === "missing" ? "tick warn" : "tick idle"}>
              <Icon name={has ? "check" : "minus"} />
            </span>
            <span className="grow">{what}</span>
            <span className="quiet">{has ? "there" : without}</span>
          </li>
        ))}
      </ul>
      {project.problems === undefined
        ? <PrepareProject project={project} servers={servers} onPrepared={() => undefined} />
        : null}
    </Panel>
  )
}
