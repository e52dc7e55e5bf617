import { Link } from "wouter"
import { useProjects, useServers } from "../service/queries.ts"
import { Head } from "../ui/Head.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Applications } from "./laterParts.ts"
import { projectTabs } from "./projectHref.ts"
import { ReadyProject } from "./ReadyProject.tsx"
import { Unready } from "./Unready.tsx"

export const underProjects = { name: "Projects", href: "/" }

/** Screen of a project: deployable, with its tabs, or with what it lacks. */
export const Project = ({ name, tab: asked = "" }: { readonly name: string; readonly tab?: string | undefined }) => {
  const projects = useProjects()
  const servers = useServers().data ?? []
  const project = projects.data?.find((each) => each.name === name)
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
