import { Component, type ReactNode } from "react"
import { Button } from "./Button.tsx"
import { Panel } from "./Panel.tsx"

interface Props {
  readonly what: string
  readonly children: ReactNode
}

/** Contains the failure of a part of the page: a chunk that cannot be loaded, or a defect. */
export class Boundary extends Component<Props, { readonly failure: unknown }> {
  override state: { readonly failure: unknown } = { failure: undefined }

  static getDerivedStateFromError(failure: unknown) {
    return { failure }
  }

  override render() {
    if (this.state.failure === undefined) return this.props.children
    return (
      <Panel title={`${this.props.what} cannot be shown`}>
        <div className="note bad" role="alert">
          <span className="grow">
            A part of this page could not be loaded or drawn: Berth may have been restarted or upgraded.
          </span>
          <Button look="small" icon="again" onClick={() => location.reload()}>Reload the page</Button>
        </div>
      </Panel>
    )
  }
}
