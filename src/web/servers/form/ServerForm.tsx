import { useQueryClient } from "@tanstack/react-query"
import { useLocation } from "wouter"
import type { Server, ServerCheck, ServerTest } from "../../../schema/servers.ts"
import { FileChange } from "../../settings/SettingsScreen.tsx"
import { Age, Badge, Button, Failure, Field, Icon, Warnings } from "../../ui/components.tsx"
import { Dialog } from "../../ui/dialogs.tsx"
import { type FoundSshDefaults, parseAuthMethod, type ServerFormState, useServerForm } from "./useServerForm.ts"

const looks = {
  true: ["tick", "check", "works"],
  false: ["tick bad", "cross", "does not work"],
  null: ["tick idle", "minus", "was not tried"]
} as const

const Check = ({ check: { detail, fix, ok }, name }: { readonly name: string; readonly check: ServerCheck }) => {
  const [look, icon, words] = looks[`${ok}`]
  return (
    <li>
      <span className={look}>
        <Icon name={icon} />
      </span>
      <span className="grow">
        <span className="strong">{name}</span>
        <span className="unseen">{words}:</span> <span className={ok === false ? "bad" : "quiet"}>{detail}</span>
        {fix === undefined ? null : <span className="fix">{fix}</span>}
      </span>
    </li>
  )
}

const rememberedBy = { berth: "Berth remembers", known_hosts: "known_hosts has" } as const

const standings = {
  known: ["good", "the remembered one"],
  new: ["warn", "new to Berth"],
  changed: ["bad", "changed"]
} as const

/** Result of a connection test: the host key to compare, and each check. */
const ConnectionTest = ({ confirmed, isTesting, onConfirm, test }: {
  readonly test: ServerTest
  readonly confirmed: string | undefined
  readonly isTesting: boolean
  readonly onConfirm: (fingerprint: string) => void
}) => {
  const { docker, files, hostKey, logIn, observedAt, sudo } = test
  return (
    <section className="connection-test" aria-label="Connection test">
      {hostKey === null ? null : (
        <div className="host-key">
          <p>
            <span className="strong">Host key</span>{" "}
            <Badge tone={standings[hostKey.standing][0]}>
              {hostKey.route === undefined ? standings[hostKey.standing][1] : "remembered on another route"}
            </Badge>
          </p>
          <code>{hostKey.fingerprint}</code>
          <p className="quiet">
            {hostKey.route !== undefined
              ? (
                <>
                  The route to this server has changed. Remembered: {hostKey.route.remembered}; now:{" "}
                  {hostKey.route.now}. Its credentials would go on the new route. Nothing was sent.
                </>
              )
              : hostKey.standing === "changed"
              ? (
                <>
                  {rememberedBy[hostKey.rememberedIn ?? "berth"]}{" "}
                  {hostKey.remembered}: somebody may stand in between. Nothing was sent.
                </>
              )
              : hostKey.standing === "new"
              ? (
                <>
                  Compare it with what <code>ssh-keygen -lf /etc/ssh/ssh_host_{keyFile(hostKey.type)}_key.pub</code>
                  {" "}
                  prints on the server.
                </>
              )
              : <>The server shows the same key as before.</>}
          </p>
          {hostKey.standing === "new" && confirmed !== hostKey.fingerprint
            ? (
              <Button icon="check" disabled={isTesting} onClick={() => onConfirm(hostKey.fingerprint)}>
                {isTesting ? "Logging in …" : "It is the same: log in"}
              </Button>
            )
            : null}
        </div>
      )}
      <ul className="rows">
        <Check name="Log-in" check={logIn} />
        <Check name="sudo" check={sudo} />
        <Check name="Docker" check={docker} />
        <Check name="Files" check={files} />
      </ul>
      <p className="foot">
        <Age at={observedAt} before="tested " />
        <span className="quiet">Nothing was changed or remembered.</span>
      </p>
    </section>
  )
}

const keyFile = (type: string): string => type.startsWith("ecdsa") ? "ecdsa" : type === "ssh-rsa" ? "rsa" : "ed25519"

const labels = { host: "host", port: "port", username: "user", privateKey: "key", jump: "jump hosts" } as const

/** Values from `~/.ssh/config` with their lines, and values that cannot be used. */
const FoundDefaults = ({ found: { alias, defaults } }: { readonly found: FoundSshDefaults }) => (
  <>
    <div className="ssh-defaults" role="status">
      <p>
        <strong>{alias}</strong> is a Host of the SSH configuration where Berth runs.
      </p>
      <ul className="what">
        {defaults.from.map(({ field, file, line }) => (
          <li key={field}>
            <span className="quiet">{labels[field]}</span>
            <span>
              <code>{String(defaults[field])}</code> <span className="quiet">{file}:{line}</span>
            </span>
          </li>
        ))}
      </ul>
      {defaults.privateKey === null
        ? <p className="quiet">It names no key file that is there: choose how to log in.</p>
        : null}
      {defaults.isKnown ? <p className="quiet">known_hosts has a host key of it.</p> : null}
    </div>
    <Warnings
      texts={[
        ...defaults.warnings,
        ...(defaults.proxyCommand === null
          ? []
          : [`It is reached with the ProxyCommand ${defaults.proxyCommand}, which Berth does not run.`])
      ]}
    />
  </>
)

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
const LogInFields = ({ state: { keyFile, setWay, stored, way } }: { readonly state: ServerFormState }) => (
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

/** Fields of a server. */
const ServerFields = ({ state }: { readonly state: ServerFormState }) => {
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

const firstTest = "A test shows the fingerprint of its host key before anything is sent. Once it is stored, Berth " +
  "connects and remembers the key, which has to be the one that you confirmed: should the server ever show another one, " +
  "nothing is sent to it."
const testOfStored = "A test uses the stored credentials unless others are given here, and changes nothing."

const Results = ({ state: { confirmed, plan, storing, stored, test, trial } }: { readonly state: ServerFormState }) => (
  <>
    {trial.data === undefined
      ? <p className="quiet">{stored === undefined ? firstTest : testOfStored}</p>
      : <ConnectionTest test={trial.data} confirmed={confirmed} isTesting={trial.isPending} onConfirm={test} />}
    <Failure error={trial.error} />
    {plan.data?.change === undefined ? null : <FileChange change={plan.data.change} reveal />}
    <Failure error={plan.error} />
    <Failure error={storing.error} />
  </>
)

const Buttons = ({ onLeave, state: { confirmed, plan, storing, stored, test, trial } }: {
  readonly state: ServerFormState
  readonly onLeave: (() => void) | undefined
}) => {
  const isStoring = storing.isPending
  const planned = plan.data?.change
  return (
    <div className="dialog-foot">
      {onLeave === undefined ? null : <Button disabled={isStoring} onClick={onLeave}>Leave it</Button>}
      <Button icon="again" changes disabled={trial.isPending || isStoring} onClick={() => test(confirmed)}>
        {trial.isPending ? "Testing …" : "Test the connection"}
      </Button>
      <Button
        type="submit"
        changes
        look="main-action"
        disabled={isStoring || plan.isPending || planned?.changed === false}
      >
        {planned === undefined
          ? "See the change"
          : isStoring
          ? "Connecting …"
          : stored === undefined
          ? "Store it and connect"
          : "Store the change"}
      </Button>
    </div>
  )
}

/** Form of a server: its fields, a connection test, and the change of the settings file before it is stored. */
export const ServerForm = ({ onLeave, state, title }: {
  readonly state: ServerFormState
  readonly title?: string
  readonly onLeave?: () => void
}) => (
  <form
    ref={state.form}
    onSubmit={(event) => {
      event.preventDefault()
      void state.advance()
    }}
    onChange={({ target }) => {
      if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) state.change(target.name)
    }}
  >
    <div className="dialog-body">
      {title === undefined ? null : <h2>{title}</h2>}
      <ServerFields state={state} />
      <Results state={state} />
    </div>
    <Buttons state={state} onLeave={onLeave} />
  </form>
)

/** Dialog that stores a server and then opens its screen. */
export const AddServer = ({ onClose }: { readonly onClose: () => void }) => {
  const [, go] = useLocation()
  const queries = useQueryClient()
  const state = useServerForm({
    onStored: async ({ id }) => {
      onClose()
      go(`/servers/${encodeURIComponent(id)}`)
      await queries.invalidateQueries()
    }
  })
  return (
    <Dialog label="Add a server" busy={state.storing.isPending} onClose={onClose}>
      <ServerForm state={state} title="Add a server" onLeave={onClose} />
    </Dialog>
  )
}

/** Dialog that changes a stored server; omitted credentials are kept. */
export const EditServer = ({ onClose, server }: { readonly server: Server; readonly onClose: () => void }) => {
  const queries = useQueryClient()
  const state = useServerForm({
    stored: server,
    onStored: async () => {
      onClose()
      await queries.invalidateQueries()
    }
  })
  const title = `Edit ${server.name}`
  return (
    <Dialog label={title} busy={state.storing.isPending} onClose={onClose}>
      <ServerForm state={state} title={title} onLeave={onClose} />
    </Dialog>
  )
}
