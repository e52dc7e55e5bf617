import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { Link } from "wouter"
import type { ListedSetting, SettingJson, SettingsChanged } from "../../schema/settingsList.ts"
import { Diff } from "../projects/plan/rows.tsx"
import { call, isStored, useSettings } from "../service.ts"
import { Button, Failure, Field, Head, Panel, Waiting } from "../ui/components.tsx"
import { TokensPanel } from "./Tokens.tsx"

/** Group of settings, selected by the prefixes of their names. */
interface SettingGroup {
  readonly title: string
  readonly about: string
  readonly prefixes: ReadonlyArray<string>
}

/** Groups that a fresh installation does not need. */
export const optionalParts = [
  {
    title: "Platform",
    about: "Creates and updates applications as platform.json declares them.",
    prefixes: ["platform."]
  },
  {
    title: "Git host",
    about: "Sets up webhooks, so that a push deploys.",
    prefixes: ["token", "gitHost."]
  },
  {
    title: "Proxy",
    about: "Leads domains to the ports of containers.",
    prefixes: ["proxy."]
  }
] as const satisfies ReadonlyArray<SettingGroup>

/** All groups, in display order. */
export const settingGroups: ReadonlyArray<SettingGroup> = [
  { title: "Projects", about: "Directories that Berth deploys from.", prefixes: ["projects."] },
  ...optionalParts,
  { title: "Deploys", about: "Defaults that container.json may change.", prefixes: ["deploy."] },
  {
    title: "Programs",
    about: "Programs of this machine that Berth runs.",
    prefixes: ["build.", "editor.", "secrets."]
  },
  { title: "History", about: "Runs that are kept, and where.", prefixes: ["runs.", "state."] },
  {
    title: "Numbers",
    about: "Usage of servers over time, and where Berth sends its own.",
    prefixes: ["stats.", "telemetry."]
  },
  { title: "Callers", about: "Who may call this service.", prefixes: ["http.", "mcp."] }
]

/** Selects the settings of a group. */
export const filterByGroup = <A extends { readonly name: string }>(
  { prefixes }: SettingGroup,
  settings: ReadonlyArray<A>
): ReadonlyArray<A> =>
  settings.filter(({ name }) =>
    prefixes.some((prefix) => prefix.endsWith(".") ? name.startsWith(prefix) : name === prefix)
  )

/**
 * Change of the settings file before it is written.
 * @param reveal scrolls to it: a long form hides it below its fields
 */
export const FileChange = ({ change: { changed, diff, file }, reveal = false }: {
  readonly change: SettingsChanged
  readonly reveal?: boolean
}) => {
  const section = useRef<HTMLElement>(null)
  useEffect(() => {
    if (reveal) section.current?.scrollIntoView({ block: "nearest" })
  }, [reveal])
  return (
    <section ref={section} className="file-plan" aria-label="Change of the settings file">
      <p className="where">
        <code className="grow">{file}</code>
      </p>
      {changed ? <Diff diff={diff} name={file} /> : <p className="quiet">It says so already: nothing would change.</p>}
    </section>
  )
}

/** Formats a value for a form; a list has one item per line, since items may contain commas. */
export const writeValue = (value: SettingJson): string =>
  value === null ? "" : typeof value === "object" ? value.join("\n") : String(value)

/** Parses the text of a list for a request; returns any other value unchanged. */
export const readValue = (kind: ListedSetting["kind"], value: SettingJson): SettingJson =>
  kind === "list" && typeof value === "string"
    ? value.split("\n").map((item) => item.trim()).filter((item) => item !== "")
    : value

const sources = {
  file: "in the file",
  environment: "from the environment",
  default: "the default",
  none: "not set"
} as const

interface Props {
  readonly setting: ListedSetting
  /** New value; undefined while it is unchanged. */
  readonly draft: SettingJson | undefined
  readonly onChange: (value: SettingJson) => void
}

const Control = ({ draft, onChange, setting }: Props) => {
  const { choices = [], kind, name, refusal, value } = setting
  const shared = { name, disabled: refusal !== null, "aria-invalid": setting.problem !== null }
  const now = draft === undefined ? value : draft
  if (kind === "choice" || kind === "flag") {
    return (
      <select
        {...shared}
        value={writeValue(now)}
        onChange={({ target }) => onChange(target.value === "" ? null : target.value)}
      >
        {draft === null ? <option value="">the default</option> : null}
        {(kind === "flag" ? ["true", "false"] : choices).map((choice) => <option key={choice}>{choice}</option>)}
      </select>
    )
  }
  const isSecret = kind === "secret"
  const shown = draft === undefined ? isStored(setting) && !isSecret ? writeValue(value) : "" : writeValue(draft)
  const text = {
    ...shared,
    autoComplete: "off",
    spellCheck: false,
    value: shown,
    placeholder: draft === null
      ? "the default"
      : isSecret && isStored(setting)
      ? "stored: type to replace it"
      : writeValue(value),
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      onChange(target.value === "" ? null : target.value)
  }
  if (kind === "list") return <textarea {...text} rows={Math.max(2, shown.split("\n").length)} />
  return (
    <input
      {...text}
      type={isSecret ? "password" : "text"}
      inputMode={kind === "number" ? "numeric" : undefined}
    />
  )
}

/** Labelled field of a setting, with its meaning, source and problem. */
const SettingField = (props: Props) => {
  const { draft, onChange, setting } = props
  const { description, name, problem, refusal, source } = setting
  return (
    <div className="setting">
      <Field label={name} help={refusal ?? (setting.kind === "list" ? `${description} One a line.` : description)}>
        <Control {...props} />
      </Field>
      <p className="setting-source">
        <span className={draft === undefined ? "quiet" : "warn"}>
          {draft === undefined ? sources[source] : draft === null ? "will be removed" : "changed"}
        </span>
        {draft === undefined && isStored(setting) && refusal === null
          ? (
            <button type="button" className="text-button" onClick={() => onChange(null)}>
              Remove <span className="unseen">{name}</span>
            </button>
          )
          : null}
      </p>
      {problem === null ? null : <p className="bad" role="alert">{problem}</p>}
    </div>
  )
}

/** New values, by setting name. */
type Draft = Readonly<Record<string, SettingJson>>

/** Plans a change of the settings file, and makes it. */
const useSettingsChange = (onChanged: () => void = () => undefined) => {
  const queries = useQueryClient()
  const plan = useMutation({
    mutationFn: (settings: Draft) =>
      call((berth) => berth.changeSettings({ payload: { settings }, urlParams: { plan: "true" } }))
  })
  const change = useMutation({
    mutationFn: (settings: Draft) => call((berth) => berth.changeSettings({ payload: { settings }, urlParams: {} })),
    onSuccess: async () => {
      onChanged()
      plan.reset()
      await queries.invalidateQueries()
    }
  })
  return { plan, change }
}

/** Values that the form submits. */
const toSend = (settings: ReadonlyArray<ListedSetting>, draft: Draft): Draft =>
  Object.fromEntries(
    settings.flatMap(({ kind, name }): ReadonlyArray<readonly [string, SettingJson]> => {
      const value = draft[name]
      return value === undefined ? [] : [[name, readValue(kind, value)]]
    })
  )

/** Form of some settings: shows the change of the settings file before it writes it. */
export const SettingsForm = (
  { label, settings }: { readonly label: string; readonly settings: ReadonlyArray<ListedSetting> }
) => {
  const [draft, setDraft] = useState<Draft>({})
  const { change, plan } = useSettingsChange(() => setDraft({}))
  const isChanged = Object.keys(draft).length > 0
  const discard = () => {
    for (const result of [plan, change]) if (!result.isIdle) result.reset()
  }
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        const values = toSend(settings, draft)
        if (plan.data === undefined) plan.mutate(values)
        else change.mutate(values)
      }}
    >
      <div className="settings-fields">
        {settings.map((setting) => (
          <SettingField
            key={setting.name}
            setting={setting}
            draft={draft[setting.name]}
            onChange={(value) => {
              discard()
              setDraft({ ...draft, [setting.name]: value })
            }}
          />
        ))}
      </div>
      {plan.data === undefined ? null : <FileChange change={plan.data} />}
      <Failure error={plan.error} />
      <Failure error={change.error} />
      {isChanged
        ? (
          <div className="settings-foot">
            <Button
              disabled={change.isPending}
              onClick={() => {
                discard()
                setDraft({})
              }}
            >
              Leave it
            </Button>
            <Button
              type="submit"
              changes
              look="main-action"
              disabled={plan.isPending || change.isPending || plan.data?.changed === false}
            >
              {plan.data === undefined ? "See the change" : "Write the change"}
            </Button>
          </div>
        )
        : null}
    </form>
  )
}

/** Screen of the settings file, one form for each group of settings. */
export const SettingsScreen = () => {
  const { data, error, refetch } = useSettings()
  return (
    <div className="page">
      <Head title="Settings" facts={data === undefined ? [] : [["File", <code>{data.file}</code>]]}>
        <p className="quiet">
          Only the lines that you change are written. The <Link className="link" href="/servers">servers</Link>{" "}
          have a screen of their own.
        </p>
      </Head>
      {error === null ? null : (
        <Panel title="Settings that cannot be read">
          <Failure error={error} again={refetch} />
        </Panel>
      )}
      {data === undefined
        ? error === null ? <Waiting what="the settings" /> : null
        : settingGroups.map((group) => (
          <Panel key={group.title} title={group.title} note={group.about}>
            <SettingsForm label={group.title} settings={filterByGroup(group, data.settings)} />
          </Panel>
        ))}
      {data === undefined ? null : <TokensPanel />}
    </div>
  )
}
