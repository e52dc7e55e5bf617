import { useSyncExternalStore } from "react"

const key = "berth-notify"
const listeners = new Set<() => void>()

/** True if the browser can notify: on https or localhost, unless the user has denied it. */
export const canNotify = (): boolean =>
  isSecureContext && "Notification" in window && Notification.permission !== "denied"

const isOn = () => canNotify() && Notification.permission === "granted" && localStorage.getItem(key) === "on"

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** True if the user has turned on notifications about ended runs. */
export const useEndNotices = (): boolean => useSyncExternalStore(subscribe, isOn)

/** Turns notifications on, after the browser has asked for permission, or off. */
export const setEndNotices = async (wanted: boolean): Promise<void> => {
  if (wanted && await Notification.requestPermission() === "granted") localStorage.setItem(key, "on")
  else localStorage.removeItem(key)
  for (const listener of listeners) listener()
}
