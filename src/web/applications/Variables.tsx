import { Option, Schema } from "effect"
import { useState } from "react"
import { EnvVarBody } from "../../schema/applications/PlatformApp.ts"
import type { Role } from "../../schema/Settings.ts"
import { formatCount } from "../format/format.ts"
import { useCall, useSession } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Empty, Loading } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

const readList = Schema.decodeUnknownOption(Schema.Array(EnvVarBody))

/** True for a value that the service masks: viewers get only the names. */
const keptFrom = (role: Role | undefined, value: unknown) => role === "viewer" && value === "***"

/** Environment variables of an application; values are revealed one at a time. */
export const Variables = (
  { title = "Variables", uuid }: { readonly uuid: string; readonly title?: string }
) => {
  const [open, setOpen] = useState<number>()
  const { data, dataUpdatedAt, error, refetch } = useCall(
    ["envs", uuid],
    (berth) => berth.listEnvs({ path: { uuid } }),
    { staleTime: 60_000 }
  )
  const { data: caller } = useSession()
  const all = Option.getOrElse(readList(data), () => [])
  return (
    <Panel
      title={title}
      note={data === undefined ? undefined : formatCount(all.length, "variable")}
      aside={<Age at={dataUpdatedAt} before="seen " />}
    >
      <Loading query={{ data, error, refetch }} what="the variables" />
      {data !== undefined && all.length === 0 ? <Empty title="It has none" /> : null}
      <ul className="rows">
        {all.map(({ key, value }, index) => (
          <li key={`${String(key)} ${index}`}>
            <code className="strong">{String(key)}</code>
            <span className="grow">
              {keptFrom(caller?.role, value)
                ? <span className="quiet">values are for operators</span>
                : typeof value !== "string"
                ? <span className="quiet">the token of the settings may not read it</span>
                : open === index
                ? <code>{value === "" ? "(empty)" : value}</code>
                : <span className="quiet" aria-label="hidden">••••••••</span>}
            </span>
            {typeof value === "string" && !keptFrom(caller?.role, value)
              ? (
                <button
                  type="button"
                  className="icon-button"
                  aria-label={`${open === index ? "Hide" : "Show"} ${String(key)}`}
                  aria-pressed={open === index}
                  onClick={() => setOpen(open === index ? undefined : index)}
                >
                  <Icon name="eye" />
                </button>
              )
              : null}
          </li>
        ))}
      </ul>
    </Panel>
  )
}
