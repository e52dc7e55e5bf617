import { Icon } from "../ui/Icon.tsx"

/** Button that opens the command palette. */
export const OpenPalette = ({ onOpen }: { readonly onOpen: () => void }) => (
  <button type="button" className="goto" onClick={onOpen}>
    <Icon name="search" />
    <span className="grow">Go to …</span>
    <kbd>Ctrl K</kbd>
  </button>
)
