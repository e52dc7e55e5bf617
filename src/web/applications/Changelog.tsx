import { useInfiniteQuery } from "@tanstack/react-query"
import { Option, Schema } from "effect"
import { useState } from "react"
import { EnvVarBody } from "../../schema/applications.ts"
import type { Role } from "../../schema/settings.ts"
import { mask } from "../../schema/words.ts"
import { call, formatCount, formatValue, useCall, useSession } from "../service.ts"
import { Age, Badge, Button, Empty, Icon, Loading, Panel, Warnings } from "../ui/components.tsx"

const atOnce = 10

const useChangelog = (projectPath: string, appName: string) =>
  useInfiniteQuery({
    queryKey: ["changelog", projectPath, appName],
    queryFn: ({ pageParam, signal }) =>
      call((berth) =>
        berth.changelog({
          urlParams: { projectPath, appName, limit: atOnce, ...pageParam === 0 ? {} : { before: pageParam } }
        }), signal),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => (next === null ? undefined : Number(next)),
    staleTime: 60_000
  })

/** Upserts of an application, newest first. */
export const Changelog = ({ appName, projectPath }: { readonly projectPath: string; readonly appName: string }) => {
  const { data, dataUpdatedAt, error, fetchNextPage, hasNextPage, isFetching, refetch } = useChangelog(
    projectPath,
    appName
  )
  const entries = data?.pages.flatMap((page) => page.entries) ?? []
  const unreadable = data?.pages[0]?.unreadable ?? 0
  return (
    <Panel
      title="Changelog"
      note="what upserts changed"
      aside={<Age at={dataUpdatedAt} before="read " />}
    >
      <Loading query={{ data, error, refetch }} what="the changelog" />
      <Warnings
        texts={unreadable === 0
          ? []
          : [`${formatCount(unreadable, "entry", "entries")} of platform.changelog.json cannot be read`]}
      />
      {data !== undefined && entries.length === 0
        ? <Empty title="Nothing was changed from here yet" icon="activity">Each upsert writes down what it did.</Empty>
        : null}
      <ol className="rows">
        {entries.map(({ action, changes, number, timestamp }) => (
          <li key={number} className="log-entry">
            <Badge tone={action === "create" ? "good" : "idle"}>{action === "create" ? "created" : "updated"}</Badge>
            <span className="grow">
              {changes.length === 0
                ? <span className="quiet">{action === "create" ? "as platform.json had it then" : "no field"}</span>
                : null}
              {changes.map((change) => (
                <span className="from-to" key={change.field}>
                  <span className="strong">{change.label}</span>
                  {change.old === null ? null : (
                    <>
                      <code className="old">{formatValue(change.old)}</code>
                      <span className="quiet">became</span>
                    </>
                  )}
                  <code className="new">{formatValue(change.new)}</code>
                </span>
              ))}
            </span>
            <Age at={timestamp} />
          </li>
        ))}
      </ol>
      {hasNextPage
        ? (
          <div className="body">
            <Button look="small" disabled={isFetching} onClick={() => fetchNextPage()}>
              {isFetching ? "Reading …" : "Show older ones"}
            </Button>
          </div>
        )
        : null}
    </Panel>
  )
}

const readList = Schema.decodeUnknownOption(Schema.Array(EnvVarBody))

/** True for a value that the service masks: viewers get only the names. */
const keptFrom = (role: Role | undefined, value: unknown) => role === "viewer" && value === mask

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
