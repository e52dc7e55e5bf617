import { Field } from "../../ui/Field.tsx"
import { FoundDefaults } from "./FoundDefaults.tsx"
import { LogInFields } from "./LogInFields.tsx"
import type { ServerFormState } from "./useServerForm.ts"

/** Fields of a server. */
export const ServerFields = ({ state }: { readonly state: ServerFormState }) => {
  const { found, look, stored } = state
  return (
    <>
      <div className="fields">
        <Field label="Name" wide>
          <input name="name" required placeholder="Main" defaultValue={stored?.name} />
        </Field>
        <Field label="Host">
          <input
            name="host"
            required
            placeholder="main.example.com"
            title="A host name, an IP address, or a Host of ~/.ssh/config"
            defaultValue={stored?.host}
            onBlur={({ target }) => look(target.value)}
          />
        </Field>
        <Field label="SSH port">
          <input name="port" type="number" min={1} max={65535} required defaultValue={stored?.port ?? 22} />
        </Field>
        <Field label="User">
          <input
            name="username"
            required
            placeholder="deployer"
            autoComplete="off"
            defaultValue={stored?.username}
          />
        </Field>
        <LogInFields state={state} />
        <Field label="Jump hosts" help="As ssh -J takes them; empty where Berth connects directly" wide>
          <input
            name="jump"
            placeholder="ann@bastion.example.com"
            autoComplete="off"
            defaultValue={stored?.jump}
          />
        </Field>
        <label className="check wide">
          <input type="checkbox" name="useSudo" defaultChecked={stored?.useSudo} /> Docker and files need sudo there
        </label>
      </div>
      {found === undefined ? null : <FoundDefaults found={found} />}
    </>
  )
}
