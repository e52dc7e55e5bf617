const key = "berth-theme"

/** The look that was chosen by hand; without one the system's. */
export type Theme = "light" | "dark"

const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches

/** The look that the page has now. */
export const currentTheme = (): Theme => {
  const chosen = localStorage.getItem(key)
  return chosen === "light" || chosen === "dark" ? chosen : isDark() ? "dark" : "light"
}

/** Gives the page the look that was chosen before. */
export const applyTheme = (): void => {
  const chosen = localStorage.getItem(key)
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen
}

/** Chooses the other look, for as long as this browser is used. */
export const toggleTheme = (): Theme => {
  const next = currentTheme() === "dark" ? "light" : "dark"
  localStorage.setItem(key, next)
  document.documentElement.dataset["theme"] = next
  return next
}
