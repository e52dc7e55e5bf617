import { useMutation, useQueryClient } from "@tanstack/react-query"
import { fileProblemWords, type LocalProject } from "../../schema/Project.ts"
import type { Server } from "../../schema/Server.ts"
import { call } from "../service/berth.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Failure } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

/** What a project lacks for a deploy, and the files that Berth can write for it. */
export const Unready = (
  { project, servers }: { readonly project: LocalProject; readonly servers: ReadonlyArray<Server> }
) => {
  const queries = useQueryClient()
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: () => call((berth) => berth.initProject({ payload: { projectPath: project.path } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["projects"] })
  })
  const lines: ReadonlyArray<readonly [has: boolean, what: string]> = [
    [project.hasImageFile, "A Dockerfile or Containerfile, which its image is built from"],
    [project.hasComposeFile, "A compose file, which says what runs"],
    [project.tarFile !== null, "An image archive, which build-image-tar.ps1 makes"],
    [
      project.serverId !== null,
      servers.length === 0
        ? "A server in container.json: none is stored yet"
        : `A server in container.json: "serverId": ${servers.map(({ id }) => JSON.stringify(id)).join(" or ")}`
    ]
  ]
  return (
    <Panel
      title="Before its first deploy"
      note="what is there, and what is missing"
      aside={<Button icon="plus" disabled={isPending} onClick={() => mutate()}>Write missing files</Button>}
    >
      {error === null ? null : <Failure error={error} />}
      {(project.problems ?? []).map((problem) => (
        <Failure key={problem.file} error={new Error(fileProblemWords(problem))} />
      ))}
      <ul className="rows">
        {lines.map(([has, what]) => (
          <li key={what}>
            <span className={has ? "tick" : "tick warn"}>
              <Icon name={has ? "check" : "minus"} />
            </span>
            <span className="grow">{what}</span>
            <span className="quiet">{has ? "there" : "missing"}</span>
          </li>
        ))}
      </ul>
      {data === undefined ? null : (
        <p className="body quiet">
          {data.created.length === 0 ? "Nothing was missing." : `Written: ${data.created.join(", ")}.`}
          {data.kept.length === 0 ? "" : ` Left as they were: ${data.kept.join(", ")}.`}
        </p>
      )}
    </Panel>
  )
}
