import type { ListedSetting, SettingJson } from "../../schema/settings/SettingsList.ts"
import { Field } from "../ui/Field.tsx"
import { isStored, writeValue } from "./settingText.ts"

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
export const SettingField = (props: Props) => {
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
