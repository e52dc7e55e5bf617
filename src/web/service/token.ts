const key = "berth-token"

/** What a request carries to be let in: the token of this tab, when one was given. */
export const authorization = (): Record<string, string> => {
  const token = sessionStorage.getItem(key)
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

/** Keeps the token until this tab is closed; nothing forgets it. */
export const keepToken = (token: string | undefined): void => {
  if (token === undefined) sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, token)
}
