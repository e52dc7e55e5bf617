import type { LocalProject } from "../../schema/projects/Project.ts"
import { useDeclared } from "../applications/useDeclared.ts"
import { useCall, useProjects } from "../service/queries.ts"
import { Panel } from "../ui/Panel.tsx"
import { Proof } from "./Proof.tsx"

const mostProjects = 40

const OfProject = ({ project, routed }: { readonly project: LocalProject; readonly routed: ReadonlySet<string> }) =>
  useDeclared(project).data?.map(({ domain, name }) =>
    typeof domain !== "string" || routed.has(domain.toLowerCase()) ? null : (
      <li key={name} className="route unrouted">
        <span className="strong">{domain}</span>
        <span className="proofs">
          <Proof application={{ appName: name, projectPath: project.path }} />
        </span>
      </li>
    )
  )

/** Declared domains without a route in the proxy file; the platform may serve them. */
export const Unrouted = () => {
  const projects = useProjects().data
  const { data } = useCall(["routes"], (berth) => berth.listRoutes(), { staleTime: 30_000 })
  const declaring = projects?.filter(({ hasPlatformJson }) => hasPlatformJson).slice(0, mostProjects) ?? []
  if (data === undefined || declaring.length === 0) return null
  const routed = new Set(data.routes.flatMap(({ domains }) => domains))
  return (
    <Panel title="Declared domains without a route here" note="the platform may serve them by itself">
      <ul className="rows unless-empty">
        {declaring.map((project) => <OfProject key={project.path} project={project} routed={routed} />)}
      </ul>
      <p className="body quiet none">Every domain that a project declares has a route.</p>
    </Panel>
  )
}
