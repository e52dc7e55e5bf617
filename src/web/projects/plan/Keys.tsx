import type { KeyDifference } from "../../../schema/projects/Compare.ts"

/** Names of the variables that differ between two env files; never their values. */
export const Keys = ({ keys: { different, localOnly, remoteOnly } }: {
  readonly keys: typeof KeyDifference.Type
}) => (
  <ul className="keys" aria-label="Variables">
    {localOnly.map((name) => (
      <li className="chip" key={`+${name}`}>
        <b className="good">+</b>
        <code>{name}</code>
      </li>
    ))}
    {different.map((name) => (
      <li className="chip" key={`~${name}`}>
        <b className="warn">~</b>
        <code>{name}</code>
        <span className="quiet">other value</span>
      </li>
    ))}
    {remoteOnly.map((name) => (
      <li className="chip" key={`-${name}`}>
        <b className="bad">−</b>
        <code>{name}</code>
        <span className="quiet">goes</span>
      </li>
    ))}
  </ul>
)
