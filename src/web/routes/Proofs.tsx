import { Link } from "wouter"
import type { LocalProject } from "../../schema/Project.ts"
import { useDeclared } from "../applications/useDeclared.ts"
import { useOverview } from "../overview/useOverview.ts"
import { aFewAtOnce, useCall, useProjects } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Empty, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

const Proof = ({ appName, domain, project }: {
  readonly project: LocalProject
  readonly appName: string
  readonly domain: string
}) => {
  const { data, dataUpdatedAt, error } = useCall(
    ["verify", project.path, appName],
    (berth) => aFewAtOnce(berth.verify({ payload: { projectPath: project.path, appName } })),
    { staleTime: 5 * 60_000 }
  )
  const route = data?.hops.find(({ hop }) => hop === "route")
  return (
    <li>
      <span className="strong">{domain}</span>
      {route === undefined
        ? <span className={error === null ? "quiet" : "bad"}>{error?.message ?? "…"}</span>
        : <Badge tone={route.ok ? "good" : "bad"}>{route.ok ? "leads to it" : "does not lead to it"}</Badge>}
      <span className="grow quiet">{route?.detail}</span>
      <Link
        className="link"
        href={`/applications/${encodeURIComponent(project.name)}/${encodeURIComponent(appName)}`}
      >
        {appName}
      </Link>
      <Age at={dataUpdatedAt} before="followed " />
    </li>
  )
}

const OfProject = ({ project }: { readonly project: LocalProject }) =>
  useDeclared(project).data?.map(({ domain, name }) =>
    typeof domain === "string" ? <Proof key={name} project={project} appName={name} domain={domain} /> : null
  )

const mostFollowed = 40

/** Each declared domain with the proof that the proxy leads it where it should. */
export const Proofs = () => {
  const projects = useProjects().data
  const overview = useOverview().data
  const declaring = projects?.filter(({ hasPlatformJson }) => hasPlatformJson).slice(0, mostFollowed)
  const others = overview?.applications.filter(({ projectPath }) => projectPath === null).length ?? 0
  return (
    <Panel title="Routes" note="declared domains, each followed through the proxy file">
      {declaring === undefined ? <Waiting what="the routes" /> : null}
      {declaring?.length === 0
        ? (
          <Empty title="No project declares a domain" icon="routes">
            A domain stands in a project's platform.json.
          </Empty>
        )
        : null}
      <ul className="rows">{declaring?.map((project) => <OfProject key={project.path} project={project} />)}</ul>
      {others === 0 ? null : (
        <p className="body quiet">
          {others}{" "}
          more of the platform's applications are declared by no project here: adopt them to follow their routes.
        </p>
      )}
    </Panel>
  )
}
