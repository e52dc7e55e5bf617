import { Link } from "wouter"
import { useProjects, useServers } from "../service/queries.ts"
import { Head } from "../ui/Head.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Applications } from "./Applications.tsx"
import { ReadyProject } from "./ReadyProject.tsx"
import { Unready } from "./Unready.tsx"

const under = { name: "Projects", href: "/" }

/** A project: one that can be deployed, or what it still lacks for that. */
export const Project = ({ name }: { readonly name: string }) => {
  const projects = useProjects()
  const servers = useServers().data ?? []
  const project = projects.data?.find((each) => each.name === name)
  if (project === undefined) {
    return (
      <div className="page">
        <Head title={name} under={under} />
        <Panel title="Projects">
          {projects.error !== null
            ? <Failure error={projects.error} again={projects.refetch} />
            : projects.isPending
            ? <Waiting what="the project" />
            : (
              <Empty title="There is no project of this name">
                <Link className="link" href="/">The overview</Link> lists the projects that there are.
              </Empty>
            )}
        </Panel>
      </div>
    )
  }
  const { hasComposeFile, hasPlatformJson, remotePath, serverId, tarFile } = project
  return (
    <div className="page">
      {serverId !== null && hasComposeFile
        ? <ReadyProject project={project} serverId={serverId} server={servers.find(({ id }) => id === serverId)} />
        : (
          <>
            <Head
              title={project.name}
              under={under}
              facts={[["Path", <code>{remotePath}</code>], [
                "Archive",
                tarFile === null ? "none" : <code>{tarFile}</code>
              ]]}
            />
            <Unready project={project} servers={servers} />
          </>
        )}
      {hasPlatformJson ? <Applications project={project} /> : null}
    </div>
  )
}
