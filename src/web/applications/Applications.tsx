import { useState } from "react"
import { Link } from "wouter"
import type { ObservedApplication } from "../../schema/overview.ts"
import { toBaseName } from "../runs/RunPanel.tsx"
import { formatCount, useOverview } from "../service.ts"
import { Age, Badge, Empty, Head, Loading, Panel, Scroll, Search, Warnings } from "../ui/components.tsx"
import { buildApplicationHref, toStatusTone } from "./Drift.tsx"

const Against = (
  { application: { drift, error, projectPath, uuid } }: { readonly application: ObservedApplication }
) => {
  if (error !== undefined) return <Badge tone="bad">cannot be seen</Badge>
  if (projectPath === null) return <Badge>not declared here</Badge>
  if (uuid === null) return <Badge tone="warn">not on the platform</Badge>
  if (drift === null) return <span className="quiet">not compared</span>
  return drift === 0
    ? <Badge tone="good">as declared</Badge>
    : <Badge tone="warn">{formatCount(drift, "difference")}</Badge>
}

/** Applications of the platform and of projects. */
export const Applications = () => {
  const { data, error, refetch } = useOverview()
  const [filter, setFilter] = useState("")
  const wanted = filter.toLowerCase()
  const found = data?.applications.filter(({ name }) => name.toLowerCase().includes(wanted)) ?? []
  return (
    <div className="page">
      <Head title="Applications">
        <p className="quiet">What the platform runs, beside what projects declare in platform.json.</p>
      </Head>
      <Panel
        title="All applications"
        note={data === undefined ? undefined : formatCount(data.applications.length, "application")}
        aside={<Search label="Filter the applications" value={filter} onChange={setFilter} />}
      >
        <Loading query={{ data, error, refetch }} what="the applications" />
        {data === undefined ? null : (
          <>
            <Warnings texts={data.errors} />
            {found.length === 0 ?
              <Empty title={wanted === "" ? "No applications" : "None fits"} icon="applications" /> :
              (
                <Scroll label="Table of applications">
                  <table className="cards">
                    <thead>
                      <tr>
                        <th>Application</th>
                        <th>The platform says</th>
                        <th>Against platform.json</th>
                        <th>Project</th>
                        <th>Seen</th>
                      </tr>
                    </thead>
                    <tbody>
                      {found.map((application) => (
                        <tr key={`${application.uuid} ${application.projectPath} ${application.name}`}>
                          <td>
                            <Link className="strong" href={buildApplicationHref(application, data.projects)}>
                              {application.name}
                            </Link>
                          </td>
                          <td data-label="Platform">
                            {application.status === null
                              ? <span className="quiet">–</span>
                              : <Badge tone={toStatusTone(application.status)}>{application.status}</Badge>}
                          </td>
                          <td data-label="platform.json">
                            <Against application={application} />
                          </td>
                          <td className="quiet" data-label="Project">
                            {application.projectPath === null ? "–" : toBaseName(application.projectPath)}
                          </td>
                          <td data-label="Seen">
                            <Age at={application.observedAt} />
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </Scroll>
              )}
          </>
        )}
      </Panel>
    </div>
  )
}
