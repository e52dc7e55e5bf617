import { classifyFinding } from "../../schema/Health.ts"
import { formatCount } from "../format/format.ts"
import { UnderWay } from "../runs/UnderWay.tsx"
import { useHealth, useOverview, useProjects } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Head } from "../ui/Head.tsx"
import { Failure, Waiting, Warnings } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { AllApplications } from "./AllApplications.tsx"
import { Dependencies } from "./Dependencies.tsx"
import { ProblemList } from "./ProblemList.tsx"
import { ProjectList } from "./ProjectList.tsx"
import { ServerTiles } from "./ServerTiles.tsx"

/** Start screen: problems, runs in progress, servers, projects and applications. */
export const Overview = () => {
  const { data, error, refetch } = useOverview()
  const projects = useProjects()
  const health = useHealth()
  const care = data?.needsCare ?? []
  const failed = health.data?.dependencies?.filter((one) => classifyFinding(one) === "failed").length ?? 0
  const state = data === undefined
    ? error === null ? "Looking at everything …" : "Nothing could be looked at."
    : care.length > 0
    ? `${formatCount(care.length, "thing needs", "things need")} care.`
    : health.data === undefined || data.errors.length > 0
    ? data.errors.length > 0 ? "Not everything could be seen." : "Nothing needs care."
    : failed === 0
    ? "Everything that Berth depends on answers."
    : `${formatCount(failed, "thing")} that Berth depends on ${failed === 1 ? "does" : "do"} not answer.`
  return (
    <div className="page">
      <Head title="Overview">
        <p className="quiet">
          {state} {data === undefined ? null : <Age at={data.observedAt} before="Seen " />}
        </p>
      </Head>
      {error === null ? null : (
        <Panel title="Not everything could be looked at">
          <Failure error={error} again={refetch} />
        </Panel>
      )}
      {data === undefined || data.errors.length === 0
        ? null
        : (
          <Panel title="Could not be listed">
            <Warnings texts={data.errors} />
          </Panel>
        )}
      {data === undefined ? null : <ProblemList overview={data} />}
      <UnderWay />
      {data === undefined ? null : <ServerTiles servers={data.servers} />}
      {projects.data === undefined
        ? (
          <Panel title="Projects">
            {projects.error === null
              ? <Waiting what="the projects" />
              : <Failure error={projects.error} again={projects.refetch} />}
          </Panel>
        )
        : <ProjectList projects={projects.data} overview={data} />}
      <AllApplications overview={data} />
      <Dependencies health={health} />
    </div>
  )
}
