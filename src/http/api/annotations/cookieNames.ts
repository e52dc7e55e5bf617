/** Name of the session's cookie for pages on http. */
export const plainCookie = "berth_session"
/**
 * Cookie name for pages on https: browsers accept it only from the host itself, never from a sibling domain or over
 * http.
 */
export const hostCookie = "__Host-berth_session"
