const key = "berth-token"

/** What lets this tab in, when it was given. */
export const currentToken = (): string | undefined => sessionStorage.getItem(key) ?? undefined

/** Keeps the token until this tab is closed; nothing forgets it. */
export const keepToken = (token: string | undefined): void => {
  if (token === undefined) sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, token)
}
