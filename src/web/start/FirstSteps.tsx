import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { formatCount } from "../format/format.ts"
import { ServerForm } from "../servers/form/ServerForm.tsx"
import { useServerForm } from "../servers/form/useServerForm.ts"
import { useProjects, useServers } from "../service/queries.ts"
import { useSettings } from "../settings/useSettings.ts"
import { Button } from "../ui/Button.tsx"
import { Head } from "../ui/Head.tsx"
import { Failure, Waiting } from "../ui/Notes.tsx"
import { OptionalParts } from "./OptionalParts.tsx"
import { ProjectsStep } from "./ProjectsStep.tsx"
import { ProjectStep } from "./ProjectStep.tsx"
import { StepPanel, type StepState } from "./StepPanel.tsx"
import type { SetUp } from "./useSetUp.ts"

/** Adds the first server in place. */
const ServerStep = () => {
  const queries = useQueryClient()
  const state = useServerForm({ onStored: () => queries.invalidateQueries() })
  return <ServerForm state={state} />
}

/** States of the three steps: the first unfinished one is next. */
const statesOf = ({ hasProjects, hasServer }: SetUp, editsRoot: boolean): readonly [StepState, StepState, StepState] =>
  !hasProjects || editsRoot
    ? ["now", hasServer ? "done" : "later", "later"]
    : hasServer
    ? ["done", "done", "now"]
    : ["done", "now", "later"]

/** First steps of a fresh installation; shown instead of the overview. */
export const FirstSteps = ({ onSkip, setUp }: { readonly setUp: SetUp; readonly onSkip: () => void }) => {
  const settings = useSettings()
  const projects = useProjects().data ?? []
  const servers = useServers().data ?? []
  const [editsRoot, setEditsRoot] = useState(false)
  const [first, second, third] = statesOf(setUp, editsRoot)
  const root = settings.data?.settings.find(({ name }) => name === "projects.root")
  const rootPath = typeof root?.value === "string" ? root.value : ""
  return (
    <div className="page">
      <Head title="First steps" actions={<Button onClick={onSkip}>Show the overview</Button>}>
        <p className="quiet">Three steps to a first deploy. Each shows what it writes before it does.</p>
      </Head>
      <ol className="first-steps">
        <StepPanel
          number={1}
          title="Where are your projects?"
          state={first}
          summary={
            <>
              <code>{rootPath}</code> · {formatCount(projects.length, "project")}
            </>
          }
          aside={first === "done" ? <Button look="small" onClick={() => setEditsRoot(true)}>Change</Button> : undefined}
        >
          <Failure error={settings.error} again={settings.refetch} />
          {root === undefined
            ? settings.error === null ? <Waiting what="the settings" /> : null
            : <ProjectsStep setting={root} onDone={() => setEditsRoot(false)} />}
        </StepPanel>
        <StepPanel
          number={2}
          title="Add a server"
          state={second}
          summary={servers.map(({ name }) => name).join(", ")}
        >
          <ServerStep />
        </StepPanel>
        <StepPanel number={3} title="Pick a project" state={third}>
          <ProjectStep projects={projects} servers={servers} root={rootPath} />
        </StepPanel>
      </ol>
      {settings.data === undefined ? null : <OptionalParts settings={settings.data.settings} />}
    </div>
  )
}
