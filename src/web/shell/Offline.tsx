import { Age } from "../ui/Age.tsx"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"

/** Banner for an unreachable service, with the age of the displayed data. */
export const Offline = ({ again, since }: { readonly since: number; readonly again: () => unknown }) => (
  <div className="offline" role="alert">
    <Icon name="alert" />
    <span className="grow">
      Berth does not answer. {since === 0 ? "It is asked again by itself." : (
        <>
          What is shown here is stale; it was seen <Age at={since} />.
        </>
      )}
    </span>
    <Button look="small" onClick={again}>Try now</Button>
  </div>
)
