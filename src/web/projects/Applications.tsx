import { Link } from "wouter"
import type { LocalProject } from "../../schema/projects.ts"
import { DriftBadge, useDeclared, useDrift } from "../applications/Drift.tsx"
import { Age, Empty, Loading, Panel } from "../ui/components.tsx"

const Declared = ({ appName, domain, project }: {
  readonly project: LocalProject
  readonly appName: string
  readonly domain: unknown
}) => {
  const drift = useDrift(project.path, appName)
  const href = `/applications/${encodeURIComponent(project.name)}/${encodeURIComponent(appName)}`
  return (
    <li>
      <Link className="strong" href={href}>{appName}</Link>
      <DriftBadge drift={drift} />
      <span className="grow quiet">{typeof domain === "string" ? domain : ""}</span>
      <Age at={drift.dataUpdatedAt} before="seen " />
    </li>
  )
}

/** Declared applications of a project. */
export const Applications = ({ project }: { readonly project: LocalProject }) => {
  const { data, error, refetch } = useDeclared(project)
  return (
    <Panel title="Applications" note="as platform.json declares them">
      <Loading query={{ data, error, refetch }} what="the applications" />
      {data?.length === 0 ? <Empty title="It declares none" icon="applications" /> : null}
      <ul className="rows">
        {data?.map(({ domain, name }) => <Declared key={name} project={project} appName={name} domain={domain} />)}
      </ul>
    </Panel>
  )
}
