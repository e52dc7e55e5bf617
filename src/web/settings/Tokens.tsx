import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Redacted } from "effect"
import { useState } from "react"
import type { AccessToken, TokenAdded, TokenList } from "../../schema/tokens.ts"
import { call, useTokens } from "../service.ts"
import { Button, CopyButton, Empty, Failure, Field, Icon, Loading, Panel, Scroll } from "../ui/components.tsx"
import { Confirm } from "../ui/dialogs.tsx"

/** The value of a new token, which this page shows until it is left. */
const NewToken = ({ added: { consequence, name, token } }: { readonly added: TokenAdded }) => (
  <div className="note warn" role="status">
    <Icon name="check" />
    <div className="grow">
      <p>The token of {name}, shown this once:</p>
      <p className="where">
        <code className="grow">{Redacted.value(token)}</code>
        <CopyButton name="the token" text={Redacted.value(token)} />
      </p>
      {consequence === null ? null : <p>{consequence}.</p>}
    </div>
  </div>
)

const AddToken = ({ list }: { readonly list: TokenList }) => {
  const queries = useQueryClient()
  const [name, setName] = useState("")
  const [role, setRole] = useState<"operator" | "viewer">("viewer")
  const [isAsking, setIsAsking] = useState(false)
  const add = useMutation({
    mutationFn: () => call((berth) => berth.addToken({ payload: { name, role } })),
    onSuccess: () => {
      setName("")
      void queries.invalidateQueries()
    }
  })
  return (
    <>
      <form
        aria-label="Add a token"
        onSubmit={(event) => {
          event.preventDefault()
          if (list.onAdd === null) add.mutate()
          else setIsAsking(true)
        }}
      >
        <div className="settings-fields">
          <Field label="Name of a new token" help={list.refusal ?? "Runs that it starts carry this name."}>
            <input
              required
              autoComplete="off"
              disabled={list.refusal !== null}
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          </Field>
          <Field label="Role" help="A viewer reads, an operator changes too.">
            <select
              disabled={list.refusal !== null}
              value={role}
              onChange={({ target }) => setRole(target.value === "operator" ? "operator" : "viewer")}
            >
              <option>viewer</option>
              <option>operator</option>
            </select>
          </Field>
        </div>
        <Failure error={add.error} />
        {name === "" ? null : (
          <div className="settings-foot">
            <Button type="submit" changes look="main-action" disabled={add.isPending || list.refusal !== null}>
              Add the token
            </Button>
          </div>
        )}
      </form>
      {add.data === undefined ? null : <NewToken added={add.data} />}
      {isAsking
        ? (
          <Confirm
            title={`Add ${name}?`}
            action="Add the token"
            onConfirm={() => add.mutate()}
            onClose={() => setIsAsking(false)}
          >
            <p>{list.onAdd}.</p>
          </Confirm>
        )
        : null}
    </>
  )
}

const Row = ({ onRemove, token: { name, problem, role, setting } }: {
  readonly token: AccessToken
  readonly onRemove: (() => void) | undefined
}) => (
  <tr>
    <td>{name}</td>
    <td>{role ?? "unknown"}</td>
    <td>
      <code>{setting}</code>
      {problem === null ? null : <p className="bad">{problem}</p>}
    </td>
    <td className="end">
      {onRemove === undefined
        ? null
        : (
          <Button changes look="small" onClick={onRemove}>
            Remove <span className="unseen">{name}</span>
          </Button>
        )}
    </td>
  </tr>
)

const Tokens = ({ list }: { readonly list: TokenList }) => {
  const queries = useQueryClient()
  const [leaving, setLeaving] = useState<string>()
  const remove = useMutation({
    mutationFn: (name: string) => call((berth) => berth.removeToken({ path: { name } })),
    onSuccess: () => void queries.invalidateQueries()
  })
  const mayRemove = ({ setting }: AccessToken) => list.refusal === null && setting !== "http.token"
  return (
    <>
      {list.tokens.length === 0 ?
        <Empty title="No token is needed" icon="settings">Every program on this machine is let in.</Empty> :
        (
          <Scroll label="Table of tokens">
            <table>
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Role</th>
                  <th>Setting</th>
                  <th className="end">
                    <span className="unseen">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {list.tokens.map((token) => (
                  <Row
                    key={token.setting}
                    token={token}
                    onRemove={mayRemove(token) ? () => setLeaving(token.name) : undefined}
                  />
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      <Failure error={remove.error} />
      {leaving === undefined ? null : (
        <Confirm
          title={`Remove ${leaving}?`}
          action="Remove the token"
          danger
          onConfirm={() => remove.mutate(leaving)}
          onClose={() => setLeaving(undefined)}
        >
          <p>Its holder is refused from then on, and its sessions end.</p>
          {list.onRemove === null ? null : <p>{list.onRemove}.</p>}
        </Confirm>
      )}
      <AddToken list={list} />
    </>
  )
}

/** Tokens that let callers in. */
export const TokensPanel = () => {
  const query = useTokens()
  return (
    <Panel title="Tokens" note="Names and roles of callers.">
      {query.data === undefined ? <Loading query={query} what="the tokens" /> : <Tokens list={query.data} />}
    </Panel>
  )
}
