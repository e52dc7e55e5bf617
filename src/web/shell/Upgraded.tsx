import { version } from "../../schema/version.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"

/** Banner for a page whose version differs from the service's: parts that the page loads later may be gone. */
export const Upgraded = ({ to }: { readonly to: string | undefined }) =>
  to === undefined || to === version ? null : (
    <div className="offline" role="alert">
      <Icon name="alert" />
      <span className="grow">Berth is version {to} now, and this page is of version {version}.</span>
      <Button look="small" icon="again" onClick={() => location.reload()}>Reload the page</Button>
    </div>
  )
