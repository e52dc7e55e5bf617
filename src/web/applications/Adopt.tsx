import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import { call } from "../service/berth.ts"
import { useProjects } from "../service/queries.ts"
import { ServiceFailure } from "../service/ServiceFailure.ts"
import { Button } from "../ui/Button.tsx"
import { Field } from "../ui/Field.tsx"
import { Failure, Warnings } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

/** Declares a live application in a project's platform.json. */
export const Adopt = ({ name, uuid }: { readonly uuid: string; readonly name: string }) => {
  const projects = useProjects().data ?? []
  const queries = useQueryClient()
  const [chosen, setChosen] = useState("")
  const projectPath = chosen === "" ? projects.find((project) => project.name === name)?.path ?? "" : chosen
  const project = projects.find(({ path }) => path === projectPath)
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: (replace: boolean) => call((berth) => berth.adopt({ payload: { uuid, projectPath, replace } })),
    onSuccess: () => queries.invalidateQueries()
  })
  const exists = error instanceof ServiceFailure && error.status === 409
  return (
    <Panel title="Adopt it" note="write it into a project's platform.json, so that nothing drifts">
      {data === undefined
        ? (
          <form
            className="body inline-form"
            onSubmit={(event) => {
              event.preventDefault()
              mutate(false)
            }}
          >
            <Field label="Project">
              <select value={projectPath} required onChange={(event) => setChosen(event.target.value)}>
                <option value="">Choose a project</option>
                {projects.map(({ name: each, path }) => <option key={path} value={path}>{each}</option>)}
              </select>
            </Field>
            <Button type="submit" changes look="main-action" disabled={isPending || projectPath === ""}>
              {project === undefined ? "Adopt" : `Write it into ${project.name}/platform.json`}
            </Button>
          </form>
        )
        : (
          <>
            <Warnings texts={[...data.warnings, ...data.unknown.map(({ label, reason }) => `${label}: ${reason}`)]} />
            <p className="body">
              Written.{" "}
              <Link
                className="link"
                href={`/applications/${encodeURIComponent(project?.name ?? "")}/${encodeURIComponent(name)}`}
              >
                {name} is declared now
              </Link>, and nothing drifts.
            </p>
            <pre className="output" tabIndex={0}>{JSON.stringify(data.entry, null, 2)}</pre>
          </>
        )}
      <Failure error={error} />
      {exists && data === undefined
        ? (
          <div className="body">
            <Button look="danger" changes onClick={() => mutate(true)}>Replace the entry that is there</Button>
          </div>
        )
        : null}
    </Panel>
  )
}
