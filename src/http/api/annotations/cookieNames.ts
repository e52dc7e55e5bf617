/** Name of the session's cookie for pages on http. */
export const plainCookie = "berth_session"
/** Its name for pages on https: browsers take it from the host itself alone, never from a sibling domain or over http. */
export const hostCookie = "__Host-berth_session"
