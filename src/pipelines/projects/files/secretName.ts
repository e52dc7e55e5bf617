/** Recognizes env files by name: `.env`, `.env.local`, `web.env`. Their values are never shown. */
export const isSecretName = (name: string): boolean => /(^|\/)\.env(\.[^/]*)?$|\.env$/.test(name)
