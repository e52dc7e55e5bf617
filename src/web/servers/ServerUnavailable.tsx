import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

/** Explains why the containers of a server cannot be listed, and the consequences. */
export const ServerUnavailable = ({ again, dockerIsDown, error, name, onEdit }: {
  readonly name: string
  readonly error: Error
  readonly again: () => unknown
  readonly onEdit: () => void
  readonly dockerIsDown: boolean
}) => (
  <Panel title={dockerIsDown ? "Docker cannot be used" : "It cannot be used now"}>
    <Failure error={error} again={again} />
    {dockerIsDown
      ? (
        <p className="body">
          {name} itself answers, so the log-in is right. On the server, look at{" "}
          <code>systemctl status docker</code>. Stacks cannot be deployed, stopped or started until Docker answers
          again, and what is below is what lies on its disk.
        </p>
      )
      : (
        <div className="body">
          <p className="quiet">
            Nothing is known of what runs there until it answers. Releases and files stay as they are.
          </p>
          <Button changes onClick={onEdit}>Edit the server</Button>
        </div>
      )}
  </Panel>
)
