import { Link } from "wouter"
import { formatCount } from "../format/format.ts"
import { useCall, useProjects } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Empty, Loading } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

/** Stacks on a server and their local projects; highlights stacks without one. */
export const Deployed = ({ serverId }: { readonly serverId: string }) => {
  const { data, dataUpdatedAt, error, refetch } = useCall(
    ["scan", serverId],
    (berth) => berth.scanServer({ path: { id: serverId } }),
    { staleTime: 60_000 }
  )
  const projects = useProjects().data ?? []
  const ownerOf = (path: string) => projects.find((each) => each.serverId === serverId && each.remotePath === path)
  const strangers = data?.deployed.filter(({ remotePath }) => ownerOf(remotePath) === undefined).length ?? 0
  return (
    <Panel
      title="Deployed"
      note={data === undefined ? undefined : (
        <>
          {formatCount(data.deployed.length, "stack")} under <code>~/containers</code>
          {strangers === 0 ? null : `, ${strangers} without a project`}
        </>
      )}
      aside={<Age at={dataUpdatedAt} before="scanned " />}
    >
      <Loading query={{ data, error, refetch }} what="what is deployed" />
      {data?.deployed.length === 0 ? <Empty title="Nothing is deployed here yet" /> : null}
      <ul className="rows">
        {data?.deployed.map(({ composeFileContent, hasData, hasEnv, name, remotePath, tarFile }) => {
          const project = ownerOf(remotePath)
          return (
            <li key={remotePath}>
              <span className="strong">{name}</span>
              {project === undefined
                ? <Badge tone="warn">no project here</Badge>
                : <Link className="link" href={`/projects/${encodeURIComponent(project.name)}`}>{project.name}</Link>}
              <code className="grow quiet">{remotePath}</code>
              <span className="quiet">
                {[tarFile, hasEnv ? ".env" : null, hasData ? "data/" : null].filter((each) => each !== null).join(
                  " · "
                )}
              </span>
              {composeFileContent === null ? null : (
                <details className="compose">
                  <summary className="link">Compose file</summary>
                  <pre className="output" tabIndex={0}>{composeFileContent}</pre>
                </details>
              )}
            </li>
          )
        })}
      </ul>
    </Panel>
  )
}
