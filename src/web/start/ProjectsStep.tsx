import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useEffect, useState } from "react"
import type { ListedSetting, ProjectsRoot } from "../../schema/settings/SettingsList.ts"
import { formatCount } from "../format/format.ts"
import { call } from "../service/berth.ts"
import { FileChange } from "../settings/FileChange.tsx"
import { Button } from "../ui/Button.tsx"
import { Field } from "../ui/Field.tsx"
import { Failure } from "../ui/Notes.tsx"

const typingMillis = 250

/** Debounces a typed text. */
const useTyped = (text: string): string => {
  const [typed, setTyped] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), typingMillis)
    return () => clearTimeout(timer)
  }, [text])
  return typed
}

/** Plans a change of the projects root: state of the directory, and change of the settings file. */
const useRootPlan = (root: string, enabled: boolean) =>
  useQuery({
    queryKey: ["settings", "projects.root", root],
    queryFn: ({ signal }) =>
      call(
        (berth) =>
          berth.changeSettings({ payload: { settings: { "projects.root": root } }, urlParams: { plan: "true" } }),
        signal
      ),
    enabled: enabled && root.trim() !== "",
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 0
  })

const describeRoot = ({ path, projects, standing }: ProjectsRoot) => {
  switch (standing) {
    case "usable":
      return { tone: "good", words: `${path} has ${formatCount(projects, "project")}.` }
    case "missing":
      return { tone: "warn", words: `${path} does not exist yet: Berth can create it.` }
    case "not a directory":
      return { tone: "bad", words: `${path} is not a directory.` }
    case "unreadable":
      return { tone: "bad", words: `${path} cannot be read by the user that runs Berth.` }
  }
}

/** Explains why this caller may not set the projects root, and the command that sets it on the machine. */
const Refused = ({ refusal }: { readonly refusal: string }) => (
  <div className="note warn">
    <span className="grow">
      This cannot be set from here. {refusal}. On the machine that Berth runs on:{" "}
      <code>berth settings set projects.root ~/projects --create</code>
    </span>
  </div>
)

/** Form for the projects root: checks the directory while the user types, and creates it if it is missing. */
export const ProjectsStep = (
  { onDone, setting }: { readonly setting: ListedSetting; readonly onDone: () => void }
) => {
  const [root, setRoot] = useState(typeof setting.value === "string" ? setting.value : "~/projects")
  const queries = useQueryClient()
  const typed = useTyped(root)
  const plan = useRootPlan(typed, setting.refusal === null)
  const { error, isPending, mutate } = useMutation({
    mutationFn: () =>
      call((berth) =>
        berth.changeSettings({
          payload: { settings: { "projects.root": root }, createDirectory: true },
          urlParams: {}
        })
      ),
    onSuccess: async () => {
      onDone()
      await queries.invalidateQueries()
    }
  })
  if (setting.refusal !== null) return <Refused refusal={setting.refusal} />
  const found = plan.error === null ? plan.data?.projectsRoot : undefined
  const standing = found === undefined ? undefined : describeRoot(found)
  const isChecked = typed === root && !plan.isFetching && standing !== undefined && standing.tone !== "bad"
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isChecked) mutate()
  }
  return (
    <form onSubmit={submit}>
      <div className="step-body">
        <Field
          label="Directory of the projects"
          help="A project is a directory in it with a Dockerfile or a compose file"
        >
          <input
            value={root}
            required
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => setRoot(target.value)}
          />
        </Field>
        <p role="status" className={standing?.tone ?? "quiet"}>{standing?.words ?? "Looking …"}</p>
        {plan.data === undefined || !isChecked ? null : <FileChange change={plan.data} />}
        <Failure error={plan.error} />
        <Failure error={error} />
      </div>
      <div className="settings-foot">
        <Button type="submit" changes look="main-action" disabled={!isChecked || isPending}>
          {found?.standing === "missing" ? "Create it and use it" : "Use it"}
        </Button>
      </div>
    </form>
  )
}
