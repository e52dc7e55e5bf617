import type { ChangedVariables } from "../../../schema/deploy/ChangedFile.ts"

/** Names of the variables that differ between two env files; never their values. */
export const ChangedNames = ({ variables: { added, changed, removed } }: { readonly variables: ChangedVariables }) => (
  <ul className="keys" aria-label="Variables">
    {added.map((name) => (
      <li className="chip" key={`+${name}`}>
        <b className="good">+</b>
        <code>{name}</code>
      </li>
    ))}
    {changed.map((name) => (
      <li className="chip" key={`~${name}`}>
        <b className="warn">~</b>
        <code>{name}</code>
        <span className="quiet">other value</span>
      </li>
    ))}
    {removed.map((name) => (
      <li className="chip" key={`-${name}`}>
        <b className="bad">−</b>
        <code>{name}</code>
        <span className="quiet">goes</span>
      </li>
    ))}
  </ul>
)
