/** Whether a file is an env file by its name: `.env`, `.env.local`, `web.env`. Its values are nobody's to see. */
export const isSecretName = (name: string): boolean => /(^|\/)\.env(\.[^/]*)?$|\.env$/.test(name)
