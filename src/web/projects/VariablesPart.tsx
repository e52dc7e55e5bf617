import type { LocalProject } from "../../schema/projects.ts"
import { Variables } from "../applications/Changelog.tsx"
import { useOverview } from "../service.ts"
import { Age, Empty, Loading, Panel } from "../ui/components.tsx"
import { ChangedNames, computeChangedVariables } from "./plan/rows.tsx"
import { useComparison } from "./state.ts"

/** Variables of a project: names that differ in its env files, and variables of its applications. */
export const VariablesPart = ({ project }: { readonly project: LocalProject }) => {
  const { data, dataUpdatedAt, error, refetch } = useComparison(project)
  const applications = useOverview().data?.applications.filter(({ projectPath }) => projectPath === project.path) ?? []
  const differing = data?.files.flatMap(({ keys, name }) => (keys === undefined ? [] : [{ keys, name }])) ?? []
  return (
    <>
      <Panel
        title="Env files"
        note="names only: values stay where they are"
        aside={<Age at={dataUpdatedAt} before="compared " />}
      >
        <Loading query={{ data, error, refetch }} what="the variables" />
        {data !== undefined && differing.length === 0
          ? <Empty title="The env files name the same variables here and on the server" icon="check" />
          : null}
        {differing.map(({ keys, name }) => (
          <div key={name}>
            <div className="plan-row">
              <code className="strong">{name}</code>
              <span className="quiet">a deploy would change these</span>
            </div>
            <ChangedNames variables={computeChangedVariables(keys)} />
          </div>
        ))}
      </Panel>
      {applications.map(({ name, uuid }) =>
        uuid === null ? null : <Variables key={uuid} uuid={uuid} title={`Variables of ${name}`} />
      )}
    </>
  )
}
