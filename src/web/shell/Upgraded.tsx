import { version } from "../../schema/version.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"

/** Banner for a page of another version than the service; a page's own parts may be gone by then. */
export const Upgraded = ({ to }: { readonly to: string | undefined }) =>
  to === undefined || to === version ? null : (
    <div className="offline" role="alert">
      <Icon name="alert" />
      <span className="grow">Berth is version {to} now, and this page is of version {version}.</span>
      <Button look="small" icon="again" onClick={() => location.reload()}>Reload the page</Button>
    </div>
  )
