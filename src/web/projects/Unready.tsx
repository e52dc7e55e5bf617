import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useState } from "react"
import { Link } from "wouter"
import { containerConfigName, formatFileProblem, type InitResult, type LocalProject } from "../../schema/projects.ts"
import type { Server } from "../../schema/servers.ts"
import { call } from "../service.ts"
import { Button, Failure, Field, Icon, Panel, Warnings } from "../ui/components.tsx"

const listed = (names: ReadonlyArray<string>) => names.length === 0 ? "nothing" : names.join(", ")

/** Fetches the plan of the missing files of a project; it is the same for any server and directory. */
const useFilesPlan = (projectPath: string, anyServer: string | undefined) =>
  useQuery({
    enabled: anyServer !== undefined,
    queryKey: ["init", projectPath],
    queryFn: ({ signal }) =>
      call((berth) => berth.initProject({ payload: { projectPath, serverId: anyServer, plan: true } }), signal),
    retry: false
  })

/** Files that are written, those that stay, and how to name a server in a container.json that stays. */
const FilesNote = ({ files, namesServer, servers }: {
  readonly files: InitResult
  readonly namesServer: boolean
  readonly servers: ReadonlyArray<Server>
}) => (
  <>
    <p className="quiet" role="status">
      Berth writes {listed([...files.created, ...files.changed ?? []])}
      {files.kept.length === 0
        ? "."
        : ` and leaves ${listed(files.kept)} as ${files.kept.length === 1 ? "it is" : "they are"}.`}
    </p>
    {namesServer || !files.kept.includes(containerConfigName) ? null : (
      <Warnings
        texts={[
          `${containerConfigName} names no server, and Berth does not change it: add "serverId": ${
            servers.map(({ name }) => JSON.stringify(name)).join(" or ")
          }`
        ]}
      />
    )}
  </>
)

/** Form that sets the server and the directory of a project, and writes its missing files. */
export const PrepareProject = ({ onPrepared, project, servers }: {
  readonly project: LocalProject
  readonly servers: ReadonlyArray<Server>
  readonly onPrepared: () => void
}) => {
  const queries = useQueryClient()
  const [chosen, setServerId] = useState<string>()
  // The list of servers may arrive later.
  const serverId = servers.find(({ id }) => id === (chosen ?? project.serverId))?.id ?? servers[0]?.id ?? ""
  const [remotePath, setRemotePath] = useState(project.remotePath)
  const plan = useFilesPlan(project.path, servers[0]?.id)
  const { error, isPending, mutate } = useMutation({
    mutationFn: () =>
      call((berth) => berth.initProject({ payload: { projectPath: project.path, serverId, remotePath } })),
    onSuccess: async () => {
      await queries.invalidateQueries()
      onPrepared()
    }
  })
  if (servers.length === 0) {
    return (
      <p className="body quiet">
        No server is stored yet: <Link className="link" href="/servers">add one</Link> first.
      </p>
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  const files = plan.error === null ? plan.data : undefined
  // An existing container.json determines the location: only an empty serverId is filled in.
  const isKept = files?.kept.includes(containerConfigName) === true
  const isThere = isKept || files?.changed?.includes(containerConfigName) === true
  return (
    <form onSubmit={submit}>
      <div className="step-body">
        <div className="fields">
          <Field label="Server">
            <select value={serverId} disabled={isKept} onChange={({ target }) => setServerId(target.value)}>
              {servers.map(({ host, id, name }) => <option key={id} value={id}>{name} ({host})</option>)}
            </select>
          </Field>
          <Field label="Directory on the server">
            <input
              value={remotePath}
              required
              disabled={isThere}
              spellCheck={false}
              autoComplete="off"
              onChange={({ target }) => setRemotePath(target.value)}
            />
          </Field>
        </div>
        {files === undefined
          ? null
          : <FilesNote files={files} namesServer={project.serverId !== null} servers={servers} />}
        <Failure error={plan.error} />
        <Failure error={error} />
      </div>
      <div className="settings-foot">
        <Button
          type="submit"
          changes
          look="main-action"
          disabled={isPending || files === undefined || files.created.length + (files.changed?.length ?? 0) === 0}
        >
          Write the files
        </Button>
      </div>
    </form>
  )
}

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
