import { type KeyboardEvent, useState } from "react"
import { useLocation } from "wouter"
import type { LocalProject } from "../../schema/projects.ts"
import { Dialog } from "../ui/dialogs.tsx"
import { type PaletteChoice, rankPlaces, usePlaces } from "./screens.tsx"

/** Command palette: opens a place by a few letters of its name, or performs the action of a verb. */
export const Palette = ({ onClose, onDeploy }: {
  readonly onClose: () => void
  /** Asks to confirm a deploy: a key press alone does not deploy. */
  readonly onDeploy: (project: LocalProject) => void
}) => {
  const [words, setWords] = useState("")
  const [chosen, setChosen] = useState(0)
  const [, go] = useLocation()
  const found = rankPlaces(usePlaces(), words)
  const open = (place: PaletteChoice | undefined) => {
    if (place === undefined) return
    onClose()
    if (place.deploys === undefined) go(place.href)
    else onDeploy(place.deploys)
  }
  const pressed = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move !== undefined) {
      event.preventDefault()
      const next = (chosen + move + found.length) % Math.max(1, found.length)
      setChosen(next)
      document.getElementById(`place-${next}`)?.scrollIntoView({ block: "nearest" })
    } else if (event.key === "Enter") {
      event.preventDefault()
      open(found[chosen])
    }
  }
  return (
    <Dialog label="Go to" className="palette" onClose={onClose}>
      <input
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="places"
        aria-label="Where to go"
        aria-activedescendant={found.length === 0 ? undefined : `place-${chosen}`}
        placeholder="A project, a server, a screen, or: deploy …, logs …"
        value={words}
        onKeyDown={pressed}
        onChange={(event) => {
          setWords(event.target.value)
          setChosen(0)
        }}
      />
      <ul id="places" role="listbox" aria-label="Places">
        {found.map((place, index) => (
          <li
            key={`${place.kind} ${place.href}`}
            id={`place-${index}`}
            role="option"
            aria-selected={index === chosen}
            onMouseMove={() => setChosen(index)}
            onClick={() => open(place)}
          >
            <span>{place.name}</span>
            <span>{place.kind}</span>
          </li>
        ))}
        {found.length === 0
          ? (
            <li role="option" aria-selected="false" aria-disabled="true">
              <span>Nothing has this name</span>
            </li>
          )
          : null}
      </ul>
    </Dialog>
  )
}
