import { Field } from "../../ui/Field.tsx"
import { parseAuthMethod } from "./readServerForm.ts"
import type { ServerFormState } from "./useServerForm.ts"

const KeyFields = ({ keyFile }: { readonly keyFile: string }) => (
  <>
    <Field label="Key file" help="An absolute path on the machine that Berth runs on">
      <input
        key={keyFile}
        name="privateKey"
        required
        defaultValue={keyFile}
        placeholder="/home/ann/.ssh/id_ed25519"
      />
    </Field>
    <Field label="Its passphrase" help="If it has one">
      <input name="passphrase" type="password" autoComplete="off" />
    </Field>
  </>
)

/** Log-in method, and the fields that it needs. */
export const LogInFields = ({ state: { keyFile, setWay, stored, way } }: { readonly state: ServerFormState }) => (
  <>
    <Field
      label="Log in with"
      {...(stored === undefined ? {} : { help: "Stored credentials are kept while host, port and user are unchanged" })}
    >
      <select name="way" value={way} onChange={({ target: { value } }) => setWay(parseAuthMethod(value))}>
        {stored === undefined ? null : <option value="stored">what is stored</option>}
        <option value="agent">the SSH agent of this machine</option>
        <option value="key">a private key file</option>
        <option value="password">a password</option>
      </select>
    </Field>
    {way === "key" ? <KeyFields keyFile={keyFile} /> : null}
    {way === "password"
      ? (
        <Field label="Password" wide>
          <input name="password" type="password" required autoComplete="off" />
        </Field>
      )
      : null}
  </>
)
