import { Link, useSearchParams } from "wouter"
import type { LocalProject } from "../../schema/projects/Project.ts"
import type { Server } from "../../schema/servers/Server.ts"
import { useProjects, useServers } from "../service/queries.ts"
import { Head } from "../ui/Head.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Applications } from "./lazyParts.ts"
import { projectTabs } from "./projectHref.ts"
import { ReadyProject } from "./ReadyProject.tsx"
import { Unready } from "./Unready.tsx"

export const underProjects = { name: "Projects", href: "/" }

/** Target of a project by its number in the address, else the first one, with the control that selects another. */
const useTarget = (project: LocalProject | undefined, servers: ReadonlyArray<Server>) => {
  const [params, setParams] = useSearchParams()
  const targets = project?.targets ?? []
  const number = Number(params.get("target") ?? "1")
  const target = targets[number - 1] ?? targets[0]
  if (project === undefined || target === undefined) return { shown: project, choice: undefined }
  const choice = (
    <select
      className="select"
      aria-label="Target that is shown"
      value={targets.indexOf(target) + 1}
      onChange={(event) => setParams({ target: event.target.value })}
    >
      {targets.map(({ remotePath, serverId }, index) => (
        <option key={`${serverId} ${remotePath}`} value={index + 1}>
          {servers.find(({ id }) => id === serverId)?.name ?? serverId} · {remotePath}
        </option>
      ))}
    </select>
  )
  return { shown: { ...project, ...target }, choice }
}

/** Screen of a project: its tabs if it can be deployed, else its missing requirements. */
export const Project = ({ name, tab: asked = "" }: { readonly name: string; readonly tab?: string | undefined }) => {
  const projects = useProjects()
  const servers = useServers().data ?? []
  const { choice, shown: project } = useTarget(projects.data?.find((each) => each.name === name), servers)
  const tab = projectTabs.find(([place]) => place === asked)?.[0]
  if (project === undefined || tab === undefined) {
    return (
      <div className="page">
        <Head title={name} under={underProjects} />
        <Panel title="Projects">
          {projects.error !== null
            ? <Failure error={projects.error} again={projects.refetch} />
            : projects.isPending
            ? <Waiting what="the project" />
            : (
              <Empty title={tab === undefined ? "A project has no such part" : "There is no project of this name"}>
                <Link className="link" href="/">The overview</Link> lists the projects that there are.
              </Empty>
            )}
        </Panel>
      </div>
    )
  }
  const { hasComposeFile, hasPlatformJson, remotePath, serverId, tarFile } = project
  if (serverId !== null && hasComposeFile) {
    return (
      <ReadyProject
        project={project}
        choice={choice}
        serverId={serverId}
        server={servers.find(({ id }) => id === serverId)}
        tab={tab}
      />
    )
  }
  return (
    <div className="page">
      <Head
        title={project.name}
        under={underProjects}
        facts={[["Path", <code>{remotePath}</code>], ["Archive", tarFile === null ? "none" : <code>{tarFile}</code>]]}
      />
      <Unready project={project} servers={servers} />
      {hasPlatformJson ? <Applications project={project} /> : null}
    </div>
  )
}
