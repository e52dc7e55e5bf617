const key = "berth-theme"

/** Theme chosen by the user; defaults to the system's. */
export type Theme = "light" | "dark"

const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches

export const readTheme = (): Theme => {
  const chosen = localStorage.getItem(key)
  return chosen === "light" || chosen === "dark" ? chosen : isDark() ? "dark" : "light"
}

/** Restores the stored theme. */
export const applyTheme = (): void => {
  const chosen = localStorage.getItem(key)
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen
}

/** Toggles the theme and stores it in the browser. */
export const toggleTheme = (): Theme => {
  const next = readTheme() === "dark" ? "light" : "dark"
  localStorage.setItem(key, next)
  document.documentElement.dataset["theme"] = next
  return next
}
