import { Link } from "wouter"
import type { NeedsCare } from "../../schema/NeedsCare.ts"
import type { Overview } from "../../schema/Overview.ts"
import { Age } from "../ui/Age.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Panel } from "../ui/Panel.tsx"

const mostShown = 12

const segment = encodeURIComponent

/** Link to the screen of the next action. */
const hrefOf = ({ projects }: Overview, { appName, kind, projectPath, runId, serverId }: NeedsCare): string => {
  const project = projects.find(({ path }) => path === projectPath)
  const projectHref = project === undefined ? "/" : `/projects/${segment(project.name)}`
  switch (kind) {
    case "server":
    case "disk":
      return `/servers/${segment(serverId ?? "")}`
    case "run":
      return `/activity/${segment(runId ?? "")}`
    case "route":
      return "/routes"
    case "application":
      return project === undefined
        ? "/applications"
        : `/applications/${segment(project.name)}/${segment(appName ?? "")}`
    case "stack":
    case "files":
      return projectHref
  }
}

/** Problems, each with its next action; renders nothing if there are none. */
export const ProblemList = ({ overview }: { readonly overview: Overview }) => {
  const { needsCare: care } = overview
  return care.length === 0 ?
    null :
    (
      <Panel title="Needs care" note={care.length > mostShown ? `the first ${mostShown} of ${care.length}` : undefined}>
        <ul className="rows">
          {care.slice(0, mostShown).map((each) => {
            const { action, kind, name, observedAt, reason, severity } = each
            const href = hrefOf(overview, each)
            return (
              <li key={`${kind} ${name} ${href} ${reason}`}>
                <span className={`tick ${severity}`}>
                  <Icon name={severity === "bad" ? "cross" : "alert"} />
                  <span className="unseen">{severity === "bad" ? "does not work:" : "look at this:"}</span>
                </span>
                <span className="grow">
                  <Link className="strong" href={href}>{name}</Link> <span>{reason}</span>
                </span>
                <Age at={observedAt} before="seen " />
                <Link className="button small" href={href}>{action}</Link>
              </li>
            )
          })}
        </ul>
      </Panel>
    )
}
