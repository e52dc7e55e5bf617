import { useState } from "react"
import { useLocation } from "wouter"
import type { LocalProject } from "../../schema/projects/Project.ts"
import type { Server } from "../../schema/servers/Server.ts"
import { PrepareProject } from "../projects/PrepareProject.tsx"
import { Field } from "../ui/Field.tsx"
import { Empty } from "../ui/Notes.tsx"

/** Chooses a project and its server; the project's screen then builds the image and deploys it. */
export const ProjectStep = ({ projects, root, servers }: {
  readonly root: string
  readonly projects: ReadonlyArray<LocalProject>
  readonly servers: ReadonlyArray<Server>
}) => {
  const [, go] = useLocation()
  const [path, setPath] = useState(projects[0]?.path)
  const project = projects.find((each) => each.path === path) ?? projects[0]
  if (project === undefined) {
    return (
      <Empty title="No project yet">
        Put one there: a directory in <code>{root}</code> with a Dockerfile or a compose file. It shows here by itself.
      </Empty>
    )
  }
  return (
    <>
      <div className="step-body">
        <Field label="Project">
          <select value={project.path} onChange={({ target }) => setPath(target.value)}>
            {projects.map(({ name, path }) => <option key={path} value={path}>{name}</option>)}
          </select>
        </Field>
      </div>
      <PrepareProject
        key={project.path}
        project={project}
        servers={servers}
        onPrepared={() => go(`/projects/${encodeURIComponent(project.name)}`)}
      />
    </>
  )
}
