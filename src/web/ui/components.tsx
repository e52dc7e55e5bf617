import {
  Component,
  type ComponentType,
  createContext,
  lazy,
  type ReactNode,
  type Ref,
  Suspense,
  useContext,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore
} from "react"
import { Link } from "wouter"
import { isCompleted, isUp } from "../../schema/stacks.ts"
import { formatAge } from "../../schema/words.ts"
import { copyText, setScreenTitle } from "../browser.ts"
import { formatMoment } from "../service.ts"

/** Tone of a state: its colour, always shown with words. */
export type Tone = "good" | "warn" | "bad" | "busy" | "idle"

/** Tone of a container by its status in Docker's words. */
export const toContainerTone = (status: string): Tone => {
  if (isUp(status)) {
    if (status.includes("(unhealthy)")) return "bad"
    return /\(health: starting\)|\(Paused\)/.test(status) ? "warn" : "good"
  }
  return isCompleted(status) || status.startsWith("Created") ? "idle" : status.startsWith("Removal") ? "warn" : "bad"
}

/** State in words with its colour. */
export const Badge = ({ children, plain = false, tone = "idle" }: {
  readonly tone?: Tone
  /** Omits the dot. */
  readonly plain?: boolean
  readonly children: ReactNode
}) => <span className={`badge ${tone}${plain ? " plain" : ""}`}>{children}</span>

const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** Current time, updated every second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)

/** Relative time that updates itself; `at` is in milliseconds or ISO 8601. */
export const Age = ({ at, before = "" }: { readonly at: number | string; readonly before?: string }) => {
  const current = useNow()
  const moment = typeof at === "number" ? at : Date.parse(at)
  if (!Number.isFinite(moment) || moment === 0) return null
  return (
    <time className="quiet numbers" dateTime={new Date(moment).toISOString()} title={formatMoment(moment)}>
      {before}
      {formatAge(Math.max(0, current - moment))}
    </time>
  )
}

const paths = {
  overview: ["M3 10.500 12 3l9 7.500", "M5 9v11h5v-6h4v6h5V9"],
  activity: ["M3 12h4l3-8 4 16 3-8h4"],
  logs: ["M5 5h14M5 10h14M5 15h9M5 20h6"],
  servers: ["M4 4h16v6H4z", "M4 14h16v6H4z", "M8 7h.01", "M8 17h.01"],
  applications: [
    "M4 4h6.500v6.500H4z",
    "M13.500 4H20v6.500h-6.500z",
    "M4 13.500h6.500V20H4z",
    "M13.500 13.500H20V20h-6.500z"
  ],
  routes: [
    "M6 19h8.500a3.500 3.500 0 0 0 0-7h-5a3.500 3.500 0 0 1 0-7H16",
    "M19 5a2 2 0 1 1-4 0 2 2 0 0 1 4 0",
    "M6 19h-.01"
  ],
  webhooks: [
    "M9.500 7.500a3 3 0 1 1 4.800 2.400L17 15",
    "M17 15a3 3 0 1 1-2.500 4.600",
    "M14 18.500H8",
    "M8 18.500a3 3 0 1 1-2.500-4.600L9 9"
  ],
  settings: [
    "M4 7h9M17 7h3M4 17h3M11 17h9",
    "M15 5a2 2 0 1 0 0 4 2 2 0 0 0 0-4",
    "M9 15a2 2 0 1 0 0 4 2 2 0 0 0 0-4"
  ],
  search: ["M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14", "m20 20-4-4"],
  sun: [
    "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8",
    "M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500 19 19M5 19l1.500-1.500M17.500 6.500 19 5"
  ],
  moon: ["M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500"],
  again: ["M4 10a8 8 0 0 1 14-3l2 2M20 4v5h-5", "M20 14a8 8 0 0 1-14 3l-2-2M4 20v-5h5"],
  play: ["M7 4.500v15l12-7.500z"],
  check: ["m5 12.500 4.500 4.500L19 7.500"],
  cross: ["m6 6 12 12M18 6 6 18"],
  minus: ["M6 12h12"],
  down: ["M12 4v15M6 13l6 6 6-6"],
  back: ["M9 6 4 11l5 5", "M4 11h10a6 6 0 0 1 0 12h-2"],
  plus: ["M12 5v14M5 12h14"],
  stop: ["M6 6h12v12H6z"],
  bin: ["M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13"],
  eye: [
    "M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12",
    "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6"
  ],
  alert: ["M12 3 2.500 20h19z", "M12 10v4M12 17h.01"],
  menu: ["M4 7h16M4 12h16M4 17h16"],
  box: ["M4 8l8-4 8 4v8l-8 4-8-4z", "m4 8 8 4 8-4M12 12v8"],
  more: ["M5 12h.01", "M12 12h.01", "M19 12h.01"],
  copy: ["M9 9h11v11H9z", "M5 15H4V4h11v1"],
  log: ["M5 6h14M5 12h14M5 18h9"],
  right: ["m9 5 7 7-7 7"],
  send: ["m4 12 16-8-6 16-3-6z"]
} as const

export type IconName = keyof typeof paths

/** Decorative icon beside text; hidden from screen readers. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg
    viewBox="0 0 24 24"
    width="18"
    height="18"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.8"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {paths[name].map((path) => <path key={path} d={path} />)}
  </svg>
)

const shownFor = 2_000

export const CopyButton = ({ name, text }: { readonly name: string; readonly text: string }) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), shownFor)
    return () => clearTimeout(timer)
  }, [copied])
  const words = copied ? "Copied" : `Copy ${name}`
  return (
    <button
      type="button"
      className="icon-button copy"
      aria-label={words}
      title={words}
      onClick={() => void copyText(text).then(setCopied)}
    >
      <Icon name={copied ? "check" : "copy"} />
    </button>
  )
}

/** Reason why changes are disabled: the caller is a viewer, or the service does not answer. */
export const ReadOnlyReason = createContext<string | undefined>(undefined)

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

/** Labelled form field. */
export const Field = ({ children, help, label, wide = false }: {
  readonly label: string
  readonly help?: string
  readonly wide?: boolean
  readonly children: ReactNode
}) => (
  <label className={wide ? "field wide" : "field"}>
    <span>{label}</span>
    {children}
    {help === undefined ? null : <small>{help}</small>}
  </label>
)

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Calls back when a letter key is pressed outside of text fields. */
export const useKey = (key: string, pressed: () => void): void => {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector("dialog[open]") !== null) return
      event.preventDefault()
      pressed()
    }
    addEventListener("keydown", listen)
    return () => removeEventListener("keydown", listen)
  }, [key, pressed])
}

/** Filter field; `/` focuses it. */
export const Search = ({ label, onChange, value }: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}) => {
  const input = useRef<HTMLInputElement>(null)
  useKey("/", () => input.current?.focus())
  return (
    <label className="search">
      <Icon name="search" />
      <input
        ref={input}
        value={value}
        placeholder="Filter"
        aria-label={label}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return
          onChange("")
          event.currentTarget.blur()
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  )
}

const hostOf = (url: string) => url.replace(/^https?:\/\//, "")

/** Link to a domain or published port. The service never returns `javascript:` or similar URLs. */
export const OutLink = ({ url }: { readonly url: string }) => (
  <a className="link" href={url} target="_blank" rel="noreferrer">{hostOf(url)}</a>
)

/** First link of a project, with the number of the others. */
export const FirstLink = ({ urls: [first, ...others] }: { readonly urls: ReadonlyArray<string> }) =>
  first === undefined ? <span className="quiet">–</span> : (
    <>
      <OutLink url={first} />
      {others.length === 0 ? null : <span className="quiet" title={others.join("\n")}>+{others.length}</span>}
    </>
  )

/** All links of a project, each with a button that copies it. */
export const Links = ({ urls }: { readonly urls: ReadonlyArray<string> }) => (
  <span className="links">
    {urls.map((url) => (
      <span key={url} className="with-copy">
        <OutLink url={url} />
        <CopyButton name={hostOf(url)} text={url} />
      </span>
    ))}
  </span>
)

/** Header of a screen: breadcrumbs, title, state, facts and actions. */
export const Head = ({ actions, children, facts = [], state, title, under }: {
  readonly title: string
  readonly under?: { readonly name: string; readonly href: string }
  readonly state?: ReactNode
  readonly facts?: ReadonlyArray<readonly [name: string, value: ReactNode]>
  readonly actions?: ReactNode
  readonly children?: ReactNode
}) => {
  useEffect(() => {
    setScreenTitle(title === "Overview" ? "Berth" : `${title} · Berth`)
  }, [title])
  return (
    <div className="head">
      <div className="words">
        {under === undefined
          ? null
          : (
            <nav className="crumb" aria-label="Above">
              <Link href={under.href}>{under.name}</Link> /
            </nav>
          )}
        <div className="title">
          <h1>{title}</h1>
          {state}
        </div>
        {children}
        {facts.length === 0 ? null : (
          <dl className="facts">
            {facts.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      {actions === undefined ? null : <div className="actions">{actions}</div>}
    </div>
  )
}

/** Titled section of a screen. */
export const Panel = ({ aside, children, footer, note, title, tone = "" }: {
  readonly title: string
  readonly note?: ReactNode
  readonly aside?: ReactNode
  readonly children?: ReactNode
  readonly footer?: ReactNode
  readonly tone?: "good" | "warn" | "bad" | ""
}) => (
  <section className="panel" aria-label={title}>
    <header>
      <h2>{title}</h2>
      {note === undefined ? null : <span className="quiet">{note}</span>}
      {aside === undefined ? null : <div className="aside">{aside}</div>}
    </header>
    {children}
    {footer === undefined ? null : <footer className={tone}>{footer}</footer>}
  </section>
)

/** Horizontal scroll area for wide content; focusable for the keyboard. */
export const Scroll = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => (
  <div className="scroll" tabIndex={0} role="region" aria-label={label}>{children}</div>
)

/** Error message of the service, with a retry button; nothing without an error. */
export const Failure = ({ again, error }: {
  readonly error: Error | null | undefined
  readonly again?: (() => unknown) | undefined
}) =>
  error === null || error === undefined ? null : (
    <div className="note bad" role="alert">
      <Icon name="alert" />
      <span className="grow">{error.message}</span>
      {again === undefined
        ? null
        : <button type="button" className="button small" onClick={() => void again()}>Try again</button>}
    </div>
  )

export const Warnings = ({ texts }: { readonly texts: ReadonlyArray<string> }) =>
  texts.map((text) => (
    <div className="note warn" key={text}>
      <Icon name="alert" />
      <span className="grow">{text}</span>
    </div>
  ))

/** Empty state, with the action that fills it. */
export const Empty = ({ children, icon = "box", title }: {
  readonly title: string
  readonly icon?: IconName
  readonly children?: ReactNode
}) => (
  <div className="empty">
    <Icon name={icon} />
    <strong>{title}</strong>
    {children === undefined ? null : <span>{children}</span>}
  </div>
)

/** Loading placeholder. */
export const Waiting = ({ what }: { readonly what: string }) => (
  <div className="waiting" role="status">
    <span className="unseen">Loading {what}</span>
    <i />
    <i />
    <i />
  </div>
)

/** Failure of a query with its retry, or a placeholder until its data has arrived. */
export const Loading = ({ query: { data, error, refetch }, what }: {
  readonly query: { readonly data: unknown; readonly error: Error | null; readonly refetch: () => unknown }
  readonly what: string
}) => (
  <>
    <Failure error={error} again={refetch} />
    {data === undefined && error === null ? <Waiting what={what} /> : null}
  </>
)

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

/**
 * Loads a part of the page on first use.
 * @param what name of the part in the notes about its loading and its failure
 */
export const lazyComponent = <P extends object>(
  what: string,
  load: () => Promise<ComponentType<P>>
): ComponentType<P> => {
  const Part = lazy(() => load().then((part) => ({ default: part })))
  return (props) => (
    <Boundary what={what}>
      <Suspense fallback={<Waiting what={what} />}>
        <Part {...props} />
      </Suspense>
    </Boundary>
  )
}
