let screen = "Berth"
let busy = ""

const draw = () => {
  document.title = busy === "" ? screen : `${busy} – ${screen}`
}

/** Names the screen in the title of the browser's tab. */
export const setScreenTitle = (title: string): void => {
  screen = title
  draw()
}

const icons: { idle?: string } = {}
const busyIcon = "data:image/svg+xml," + encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1557d6"/>` +
    `<circle cx="16" cy="16" r="8" fill="none" stroke="#fff" stroke-width="4" stroke-dasharray="36 15"/></svg>`
)

/** Shows a run under way in the tab's title and icon; an empty text resets them. */
export const setBusyTitle = (words: string): void => {
  busy = words === "" ? "" : `● ${words}`
  draw()
  const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]")
  if (icon === null) return
  icons.idle ??= icon.href
  const wanted = words === "" ? icons.idle : busyIcon
  if (icon.href !== wanted) icon.href = wanted
}
