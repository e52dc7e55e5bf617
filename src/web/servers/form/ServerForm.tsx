import { FileChange } from "../../settings/FileChange.tsx"
import { Button } from "../../ui/Button.tsx"
import { Failure } from "../../ui/Notes.tsx"
import { ConnectionTest } from "./ConnectionTest.tsx"
import { ServerFields } from "./ServerFields.tsx"
import type { ServerFormState } from "./useServerForm.ts"

const firstTest = "A test shows the fingerprint of its host key before anything is sent. Once it is stored, Berth " +
  "connects and remembers the key, which has to be the one that you confirmed: should the server ever show another one, " +
  "nothing is sent to it."
const testOfStored = "A test uses the stored credentials unless others are given here, and changes nothing."

const Results = ({ state: { confirmed, plan, storing, stored, test, trial } }: { readonly state: ServerFormState }) => (
  <>
    {trial.data === undefined
      ? <p className="quiet">{stored === undefined ? firstTest : testOfStored}</p>
      : <ConnectionTest test={trial.data} confirmed={confirmed} isTesting={trial.isPending} onConfirm={test} />}
    <Failure error={trial.error} />
    {plan.data?.change === undefined ? null : <FileChange change={plan.data.change} reveal />}
    <Failure error={plan.error} />
    <Failure error={storing.error} />
  </>
)

const Buttons = ({ onLeave, state: { confirmed, plan, storing, stored, test, trial } }: {
  readonly state: ServerFormState
  readonly onLeave: (() => void) | undefined
}) => {
  const isStoring = storing.isPending
  const planned = plan.data?.change
  return (
    <div className="dialog-foot">
      {onLeave === undefined ? null : <Button disabled={isStoring} onClick={onLeave}>Leave it</Button>}
      <Button icon="again" changes disabled={trial.isPending || isStoring} onClick={() => test(confirmed)}>
        {trial.isPending ? "Testing …" : "Test the connection"}
      </Button>
      <Button
        type="submit"
        changes
        look="main-action"
        disabled={isStoring || plan.isPending || planned?.changed === false}
      >
        {planned === undefined
          ? "See the change"
          : isStoring
          ? "Connecting …"
          : stored === undefined
          ? "Store it and connect"
          : "Store the change"}
      </Button>
    </div>
  )
}

/** Form of a server: its fields, a connection test, and the change of the settings file before it is stored. */
export const ServerForm = ({ onLeave, state, title }: {
  readonly state: ServerFormState
  readonly title?: string
  readonly onLeave?: () => void
}) => (
  <form
    ref={state.form}
    onSubmit={(event) => {
      event.preventDefault()
      void state.advance()
    }}
    onChange={({ target }) => {
      if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) state.change(target.name)
    }}
  >
    <div className="dialog-body">
      {title === undefined ? null : <h2>{title}</h2>}
      <ServerFields state={state} />
      <Results state={state} />
    </div>
    <Buttons state={state} onLeave={onLeave} />
  </form>
)
