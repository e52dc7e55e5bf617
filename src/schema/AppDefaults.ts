/** What holds for an application where neither its entry in `platform.json` nor a request says anything else. */
export const appDefaults = {
  buildPack: "autopack",
  branch: "master",
  baseDirectory: "/",
  composeLocation: "/compose.yml",
  portsExposes: "3000"
} as const

/** The publish directory where none is declared: it differs with the call that sets it. */
export const publishDefaults = {
  /** When a static site is created, and when it is compared or updated. */
  site: "dist",
  /** When what is updated is not a static site. */
  other: "/",
  /** When a static site was just created, and is brought to what its entry says. */
  followUp: "/dist"
} as const
