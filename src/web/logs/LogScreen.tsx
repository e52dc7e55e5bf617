import { useSearchParams } from "wouter"
import { useOverview, useProjects } from "../service.ts"
import { Empty, Failure, Head, Panel, Waiting } from "../ui/components.tsx"
import { LogView } from "./LogView.tsx"

/** Most projects that the service follows at once. */
const mostProjects = 10

/** Logs of several projects side by side in time. */
export const LogScreen = () => {
  const [params, setParams] = useSearchParams()
  const projects = useProjects()
  const overview = useOverview().data
  const chosen = params.getAll("project")
  const choose = (names: ReadonlyArray<string>) =>
    setParams((before) => {
      const after = new URLSearchParams(before)
      after.delete("project")
      after.delete("service")
      for (const name of names) after.append("project", name)
      return after
    }, { replace: true })
  const known = projects.data ?? []
  const names = [
    ...new Set([...known.filter(({ hasComposeFile }) => hasComposeFile).map(({ name }) => name), ...chosen])
  ]
  const stacks = known.flatMap(({ name, remotePath, serverId }) =>
    serverId !== null && chosen.includes(name) ? [{ serverId, remotePath }] : []
  )
  return (
    <div className="page">
      <Head title="Logs">
        <p className="quiet">Choose up to {mostProjects} projects: their lines come in the order of their times.</p>
      </Head>
      {projects.error === null ? null : (
        <Panel title="Projects">
          <Failure error={projects.error} again={projects.refetch} />
        </Panel>
      )}
      {projects.isPending ?
        <Waiting what="the projects" /> :
        (
          <div className="log-projects" role="group" aria-label="Projects">
            {names.map((name) => {
              const on = chosen.includes(name)
              const observed = overview?.projects.find((each) => each.name === name)
              return (
                <button
                  key={name}
                  type="button"
                  className={`button small${on ? " on" : ""}`}
                  aria-pressed={on}
                  disabled={!on && chosen.length >= mostProjects}
                  onClick={() => choose(on ? chosen.filter((each) => each !== name) : [...chosen, name])}
                >
                  {name}
                  {observed === undefined ? null : <span className="quiet">{observed.state}</span>}
                </button>
              )
            })}
          </div>
        )}
      {chosen.length === 0
        ? (
          <Panel title="Logs">
            <Empty title="No project is chosen" icon="activity">Choose one above, or several.</Empty>
          </Panel>
        )
        : (
          <LogView
            key={chosen.join("\n")}
            name={chosen.join(", ")}
            source={{ projects: chosen }}
            stacks={stacks}
            tall
          />
        )}
    </div>
  )
}
