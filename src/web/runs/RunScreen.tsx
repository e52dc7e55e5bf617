import { type ReactNode } from "react"
import { Link } from "wouter"
import { isEnded, type Run } from "../../schema/runs.ts"
import { useProjects, useRun, useServers } from "../service.ts"
import { Age, Badge, Failure, Head, Panel, Waiting } from "../ui/components.tsx"
import { CancelRun, describeRun, describeRunOutcome, RunPanel, Targets, toBaseName } from "./RunPanel.tsx"

const outputOf = ({ result }: Run): string =>
  typeof result === "object" && result !== null && "output" in result && typeof result.output === "string"
    ? result.output
    : ""

const Facts = ({ run: { parent, requestedAt, requestedBy, subject } }: { readonly run: Run }) => {
  const projects = useProjects().data
  const servers = useServers().data
  const project = projects?.find(({ path }) => path === subject.projectPath)
  const server = servers?.find(({ id }) => id === subject.serverId)
  return (
    <dl className="facts">
      {subject.projectPath === undefined ? null : (
        <div>
          <dt>Project</dt>
          <dd>
            {project === undefined
              ? toBaseName(subject.projectPath)
              : <Link className="link" href={`/projects/${encodeURIComponent(project.name)}`}>{project.name}</Link>}
          </dd>
        </div>
      )}
      {subject.serverId === undefined ? null : (
        <div>
          <dt>Server</dt>
          <dd>
            <Link className="link" href={`/servers/${encodeURIComponent(subject.serverId)}`}>
              {server?.name ?? subject.serverId}
            </Link>
          </dd>
        </div>
      )}
      {subject.remotePath === undefined ? null : (
        <div>
          <dt>Path</dt>
          <dd>
            <code>{subject.remotePath}</code>
          </dd>
        </div>
      )}
      {parent === undefined ? null : (
        <div>
          <dt>Part of</dt>
          <dd>
            <Link className="link" href={`/activity/${parent}`}>a deploy to several servers</Link>
          </dd>
        </div>
      )}
      <div>
        <dt>Asked for by</dt>
        <dd>
          {requestedBy.name} over {requestedBy.door} <Age at={requestedAt} />
        </dd>
      </div>
    </dl>
  )
}

/** Screen of one run; resumes following after a reload. */
export const RunScreen = ({ id, next }: {
  readonly id: string
  /** Next actions after it has ended. */
  readonly next: (run: Run) => ReactNode
}) => {
  const watched = useRun(id)
  const { failure, output, run } = watched
  if (run === undefined) {
    return (
      <div className="page">
        <Head title="Run" under={{ name: "Activity", href: "/activity" }} />
        <Panel title="Steps">{failure === undefined ? <Waiting what="the run" /> : <Failure error={failure} />}</Panel>
      </div>
    )
  }
  const { tone, word } = describeRunOutcome(run)
  const printed = output === "" ? outputOf(run) : output
  const shown = <pre className="output" tabIndex={0}>{printed}</pre>
  // Folds the output if the message names the cause. For a build, the output itself is the cause.
  const isFolded = isEnded(run.state) && run.state !== "succeeded" && run.kind !== "build"
  return (
    <div className="page">
      <Head
        title={describeRun(run)}
        under={{ name: "Activity", href: "/activity" }}
        state={<Badge tone={tone}>{word}</Badge>}
        actions={isEnded(run.state) ? next(run) : <CancelRun run={run} />}
      >
        <Facts run={run} />
      </Head>
      <Targets run={run} />
      <RunPanel title={() => "Steps"} watched={watched} />
      {printed === "" ? null : (
        <Panel title="Output" note="the last of what its programs printed">
          {isFolded
            ? (
              <details className="more">
                <summary>Show it</summary>
                {shown}
              </details>
            )
            : shown}
        </Panel>
      )}
    </div>
  )
}
