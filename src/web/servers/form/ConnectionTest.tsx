import type { ServerCheck, ServerTest } from "../../../schema/servers/ServerTest.ts"
import { Age } from "../../ui/Age.tsx"
import { Badge } from "../../ui/Badge.tsx"
import { Button } from "../../ui/Button.tsx"
import { Icon } from "../../ui/Icon.tsx"

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
export const ConnectionTest = ({ confirmed, isTesting, onConfirm, test }: {
  readonly test: ServerTest
  readonly confirmed: string | undefined
  readonly isTesting: boolean
  readonly onConfirm: (fingerprint: string) => void
}) => {
  const { docker, hostKey, logIn, observedAt, sudo } = test
  return (
    <section className="connection-test" aria-label="Connection test">
      {hostKey === null ? null : (
        <div className="host-key">
          <p>
            <span className="strong">Host key</span>{" "}
            <Badge tone={standings[hostKey.standing][0]}>{standings[hostKey.standing][1]}</Badge>
          </p>
          <code>{hostKey.fingerprint}</code>
          <p className="quiet">
            {hostKey.standing === "changed"
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
      </ul>
      <p className="foot">
        <Age at={observedAt} before="tested " />
        <span className="quiet">Nothing was changed or remembered.</span>
      </p>
    </section>
  )
}

const keyFile = (type: string): string => type.startsWith("ecdsa") ? "ecdsa" : type === "ssh-rsa" ? "rsa" : "ed25519"
