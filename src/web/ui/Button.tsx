import { type ReactNode, type Ref, useContext } from "react"
import { Icon, type IconName } from "./Icon.tsx"
import { ReadOnlyReason } from "./ReadOnlyReason.ts"

/** Button with an icon and a label. */
export const Button = (
  { changes = false, children, disabled = false, icon, look = "", onClick, ref, type = "button" }: {
    readonly children: ReactNode
    readonly icon?: IconName
    readonly look?: string
    readonly disabled?: boolean
    /** Disables the button with the reason, for viewers and while the service does not answer. */
    readonly changes?: boolean
    readonly type?: "button" | "submit"
    readonly onClick?: () => unknown
    readonly ref?: Ref<HTMLButtonElement>
  }
) => {
  const readOnlyReason = useContext(ReadOnlyReason)
  const reason = changes ? readOnlyReason : undefined
  return (
    <button
      ref={ref}
      type={type}
      className={`button ${look}`}
      disabled={disabled || reason !== undefined}
      title={reason}
      aria-description={reason}
      onClick={() => void onClick?.()}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </button>
  )
}
