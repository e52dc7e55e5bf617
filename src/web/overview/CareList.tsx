import { Link } from "wouter"
import { Age } from "../ui/Age.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Panel } from "../ui/Panel.tsx"
import type { Care } from "./care.ts"

const mostShown = 12

/** What a person should look at, each with its next action; nothing when all is well. */
export const CareList = ({ care }: { readonly care: ReadonlyArray<Care> }) =>
  care.length === 0 ?
    null :
    (
      <Panel title="Needs care" note={care.length > mostShown ? `the first ${mostShown} of ${care.length}` : undefined}>
        <ul className="rows">
          {care.slice(0, mostShown).map(({ action, at, href, key, tone, what, why }) => (
            <li key={key}>
              <span className={`tick ${tone}`}>
                <Icon name={tone === "bad" ? "cross" : "alert"} />
              </span>
              <span className="grow">
                <Link className="strong" href={href}>{what}</Link> <span>{why}</span>
              </span>
              <Age at={at} before="seen " />
              <Link className="button small" href={href}>{action}</Link>
            </li>
          ))}
        </ul>
      </Panel>
    )
