import type { ReactNode, Ref } from "react"
import { Icon, type IconName } from "./Icon.tsx"

/** A button with a drawing and a word. */
export const Button = ({ children, disabled = false, icon, look = "", onClick, ref, type = "button" }: {
  readonly children: ReactNode
  readonly icon?: IconName
  readonly look?: string
  readonly disabled?: boolean
  readonly type?: "button" | "submit"
  readonly onClick?: () => unknown
  readonly ref?: Ref<HTMLButtonElement>
}) => (
  <button ref={ref} type={type} className={`button ${look}`} disabled={disabled} onClick={() => void onClick?.()}>
    {icon === undefined ? null : <Icon name={icon} />}
    {children}
  </button>
)
