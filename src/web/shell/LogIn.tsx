import { Redacted } from "effect"
import { type FormEvent, useState } from "react"
import { call } from "../service/berth.ts"
import { queryClient } from "../service/queries.ts"
import { Button } from "../ui/Button.tsx"
import { Field } from "../ui/Field.tsx"
import { Failure } from "../ui/Notes.tsx"
import { Brand } from "./Brand.tsx"

/** Log-in form for the token that the settings require. */
export const LogIn = ({ onDone }: { readonly onDone: () => void }) => {
  const [token, setToken] = useState("")
  const [failure, setFailure] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const logIn = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await call((berth) => berth.openSession({ payload: { token: Redacted.make(token) } }))
      onDone()
      await queryClient.resetQueries()
    } catch (cause) {
      setFailure(cause instanceof Error ? new Error(`This token is not accepted. ${cause.message}`) : undefined)
    }
    setBusy(false)
  }
  return (
    <main className="login">
      <div className="panel">
        <form onSubmit={(event) => void logIn(event)}>
          <Brand />
          <h1>Log in</h1>
          <Field
            label="Token"
            help="It stands in berth.yaml, under http.token or http.tokens. This page does not keep it."
          >
            <input
              type="password"
              autoComplete="current-password"
              required
              value={token}
              onChange={(event) => setToken(event.target.value)}
            />
          </Field>
          <Button type="submit" look="main-action" disabled={busy || token === ""}>Log in</Button>
        </form>
        <Failure error={failure} />
      </div>
    </main>
  )
}
