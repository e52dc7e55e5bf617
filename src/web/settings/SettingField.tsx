import type { ListedSetting, SettingJson } from "../../schema/settings/SettingsList.ts"
import { Field } from "../ui/Field.tsx"

/** A value as a text field shows it. */
const written = (value: SettingJson): string =>
  value === null ? "" : typeof value === "object" ? value.join(", ") : String(value)

const isStored = ({ source }: ListedSetting) => source === "file" || source === "environment"

const sources = {
  file: "in the file",
  environment: "from the environment",
  default: "the default",
  none: "not set"
} as const

interface Props {
  readonly setting: ListedSetting
  /** The new value; undefined while it is unchanged. */
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
        value={written(now)}
        onChange={({ target }) => onChange(target.value === "" ? null : target.value)}
      >
        {draft === null ? <option value="">the default</option> : null}
        {(kind === "flag" ? ["true", "false"] : choices).map((choice) => <option key={choice}>{choice}</option>)}
      </select>
    )
  }
  const isSecret = kind === "secret"
  const shown = draft === undefined ? isStored(setting) && !isSecret ? written(value) : "" : written(draft)
  return (
    <input
      {...shared}
      type={isSecret ? "password" : "text"}
      inputMode={kind === "number" ? "numeric" : undefined}
      autoComplete="off"
      spellCheck={false}
      value={shown}
      placeholder={draft === null
        ? "the default"
        : isSecret && isStored(setting)
        ? "stored: type to replace it"
        : written(value)}
      onChange={({ target }) => onChange(target.value === "" ? null : target.value)}
    />
  )
}

/** Labelled field of a setting, with its meaning, its source and what is wrong with it. */
export const SettingField = (props: Props) => {
  const { draft, onChange, setting } = props
  const { description, name, problem, refusal, source } = setting
  return (
    <div className="setting">
      <Field label={name} help={refusal ?? description}>
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
