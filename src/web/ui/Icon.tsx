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
