import { type KeyboardEvent, useState } from "react"
import { useLocation } from "wouter"
import { applicationHref } from "../applications/applicationHref.ts"
import { useOverview } from "../overview/useOverview.ts"
import { useProjects, useServers } from "../service/queries.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { screens } from "./screens.ts"

interface Place {
  readonly name: string
  readonly kind: string
  readonly href: string
}

const mostShown = 40

/** Names that begin with the words come first, then those that hold them. */
const fitting = (places: ReadonlyArray<Place>, words: string): ReadonlyArray<Place> => {
  const wanted = words.trim().toLowerCase()
  const holding = places.filter(({ name }) => name.toLowerCase().includes(wanted))
  const begins = ({ name }: Place) => name.toLowerCase().startsWith(wanted)
  return [...holding.filter(begins), ...holding.filter((place) => !begins(place))].slice(0, mostShown)
}

const usePlaces = (): ReadonlyArray<Place> => {
  const projects = useProjects().data ?? []
  const servers = useServers().data ?? []
  const overview = useOverview().data
  return [
    ...screens.map(([name, href]) => ({ name, kind: "screen", href })),
    ...projects.map(({ name }) => ({ name, kind: "project", href: `/projects/${encodeURIComponent(name)}` })),
    ...overview?.applications.map((application) => ({
      name: application.name,
      kind: "application",
      href: applicationHref(application, overview.projects)
    })) ?? [],
    ...servers.map(({ id, name }) => ({ name, kind: "server", href: `/servers/${encodeURIComponent(id)}` }))
  ]
}

/** Goes anywhere by a few letters of its name. */
export const Palette = ({ onClose }: { readonly onClose: () => void }) => {
  const [words, setWords] = useState("")
  const [chosen, setChosen] = useState(0)
  const [, go] = useLocation()
  const found = fitting(usePlaces(), words)
  const open = (place: Place | undefined) => {
    if (place === undefined) return
    onClose()
    go(place.href)
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
        placeholder="A project, an application, a server, a screen"
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
