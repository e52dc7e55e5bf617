import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import type { ServerStack } from "../../schema/stacks.ts"
import { call, formatCount, useCall, useProjects } from "../service.ts"
import { Badge, Button, Failure, Field, Panel, Warnings } from "../ui/components.tsx"
import { ActionDialog } from "../ui/dialogs.tsx"

/** Suggests the directory of a new project beside the others. */
const suggestPath = (project: string | undefined, { remotePath }: ServerStack) => {
  const name = remotePath.split("/").at(-1) ?? ""
  const [, root = ""] = /^(.*)[/\\][^/\\]+$/.exec(project ?? "") ?? []
  return root === "" ? "" : `${root}${project?.includes("\\") === true ? "\\" : "/"}${name}`
}

/** Makes a project of a stack: shows what would be fetched first. */
const AdoptStack = ({ onClose, serverId, stack }: {
  readonly serverId: string
  readonly stack: ServerStack
  readonly onClose: () => void
}) => {
  const queries = useQueryClient()
  const [first] = useProjects().data ?? []
  const [written, setWritten] = useState<string>()
  const projectPath = written ?? suggestPath(first?.path, stack)
  const request = { serverId, remotePath: stack.remotePath, projectPath }
  const plan = useMutation({
    mutationFn: () => call((berth) => berth.adoptStack({ payload: { ...request, plan: true } }))
  })
  const adoption = useMutation({
    mutationFn: () => call((berth) => berth.adoptStack({ payload: request })),
    onSuccess: () => queries.invalidateQueries()
  })
  const shown = adoption.data ?? plan.data
  const isPlanned = plan.data !== undefined
  return (
    <ActionDialog
      wide
      title={`Adopt ${stack.name}`}
      action={isPlanned ? "Adopt it" : "Show what is fetched"}
      changes={isPlanned}
      busy={plan.isPending || adoption.isPending}
      isDone={adoption.data !== undefined}
      disabled={projectPath === ""}
      onAct={() => isPlanned ? adoption.mutate() : plan.mutate()}
      onClose={onClose}
    >
      <p>
        Berth fetches the compose files, env files and mounted files of{" "}
        <code>{stack.remotePath}</code>, never its data, and records what runs as the first release. No container is
        restarted.
      </p>
      <Field label="Directory of the new project" help="Empty, or not there yet.">
        <input
          value={projectPath}
          required
          disabled={adoption.data !== undefined}
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => {
            setWritten(target.value)
            plan.reset()
            adoption.reset()
          }}
        />
      </Field>
      {shown === undefined ? null : (
        <>
          <p role="status">
            {shown.release === null ? "Would fetch " : "Fetched "}
            {formatCount(shown.files.length, "file")}: {shown.files.map(({ path }) => path).join(", ")}.
            {shown.release === null ? null : ` What runs is release ${shown.release}.`}
          </p>
          <Warnings texts={shown.warnings} />
        </>
      )}
      <Failure error={adoption.error ?? plan.error} />
    </ActionDialog>
  )
}

/** Compose projects of a server wherever they lie, with a button for those without a project. */
export const Stacks = ({ serverId }: { readonly serverId: string }) => {
  const { data } = useCall(
    ["stacks", serverId],
    (berth) => berth.listStacks({ path: { id: serverId } }),
    { staleTime: 60_000 }
  )
  const projects = useProjects().data ?? []
  const [adopted, setAdopted] = useState<ServerStack>()
  const strangers = data?.stacks.filter(({ project }) => project === null).length ?? 0
  if (strangers === 0 && adopted === undefined) return null
  return (
    <Panel title="Compose projects" note={`${strangers} without a project`}>
      <ul className="rows">
        {data?.stacks.map((stack) => {
          const project = projects.find(({ path }) => path === stack.project)
          return (
            <li key={`${stack.directory} ${stack.name}`}>
              <span className="strong">{stack.name}</span>
              {project === undefined
                ? stack.project === null ? <Badge tone="warn">no project here</Badge> : null
                : <Link className="link" href={`/projects/${encodeURIComponent(project.name)}`}>{project.name}</Link>}
              <code className="grow quiet">{stack.remotePath}</code>
              <span className="quiet">
                {stack.exists
                  ? `${stack.running} of ${formatCount(stack.containers, "container")} run`
                  : "its directory is gone"}
              </span>
              {stack.project === null && stack.exists
                ? <Button changes onClick={() => setAdopted(stack)}>Adopt</Button>
                : null}
            </li>
          )
        })}
      </ul>
      {adopted === undefined
        ? null
        : <AdoptStack serverId={serverId} stack={adopted} onClose={() => setAdopted(undefined)} />}
    </Panel>
  )
}
