import { Warnings } from "../../ui/Notes.tsx"
import type { FoundSshDefaults } from "./useSshDefaults.ts"

const labels = { host: "host", port: "port", username: "user", privateKey: "key", jump: "jump hosts" } as const

/** Values from `~/.ssh/config` with their lines, and values that cannot be used. */
export const FoundDefaults = ({ found: { alias, defaults } }: { readonly found: FoundSshDefaults }) => (
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
