import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useState } from "react"
import { Link } from "wouter"
import type { LocalProject } from "../../schema/projects/Project.ts"
import type { Server } from "../../schema/servers/Server.ts"
import { call } from "../service/berth.ts"
import { Button } from "../ui/Button.tsx"
import { Field } from "../ui/Field.tsx"
import { Failure } from "../ui/Notes.tsx"

const listed = (names: ReadonlyArray<string>) => names.length === 0 ? "nothing" : names.join(", ")

interface Target {
  readonly projectPath: string
  readonly serverId: string
  readonly remotePath: string
}

/** Plans the files that a project lacks. */
const useFilesPlan = (target: Target, enabled: boolean) =>
  useQuery({
    enabled,
    queryKey: ["init", target],
    queryFn: ({ signal }) => call((berth) => berth.initProject({ payload: { ...target, plan: true } }), signal),
    retry: false
  })

/** Names the server and the directory of a project, and writes the files that it lacks. */
export const PrepareProject = ({ onPrepared, project, servers }: {
  readonly project: LocalProject
  readonly servers: ReadonlyArray<Server>
  readonly onPrepared: () => void
}) => {
  const queries = useQueryClient()
  const [chosen, setServerId] = useState<string>()
  // The list of servers may arrive later.
  const serverId = servers.find(({ id }) => id === chosen)?.id ?? servers[0]?.id ?? ""
  const [remotePath, setRemotePath] = useState(project.remotePath)
  const target = { projectPath: project.path, serverId, remotePath }
  const plan = useFilesPlan(target, serverId !== "")
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => call((berth) => berth.initProject({ payload: target })),
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
  return (
    <form onSubmit={submit}>
      <div className="step-body">
        <div className="fields">
          <Field label="Server">
            <select value={serverId} onChange={({ target }) => setServerId(target.value)}>
              {servers.map(({ host, id, name }) => <option key={id} value={id}>{name} ({host})</option>)}
            </select>
          </Field>
          <Field label="Directory on the server">
            <input
              value={remotePath}
              required
              spellCheck={false}
              autoComplete="off"
              onChange={({ target }) => setRemotePath(target.value)}
            />
          </Field>
        </div>
        {files === undefined ? null : (
          <p className="quiet" role="status">
            Berth writes {listed([...files.created, ...files.changed ?? []])}
            {files.kept.length === 0 ? "." : ` and leaves ${listed(files.kept)} as they are.`}
          </p>
        )}
        {plan.error === null ? null : <Failure error={plan.error} />}
        {error === null ? null : <Failure error={error} />}
      </div>
      <div className="settings-foot">
        <Button type="submit" changes look="main-action" disabled={isPending || files === undefined}>
          Write the files
        </Button>
      </div>
    </form>
  )
}
